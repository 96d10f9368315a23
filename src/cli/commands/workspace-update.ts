import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { parseLabel, parseLabelKey, parseSeconds, toRecord } from "../arguments/option-values.ts";
import { usageError } from "../arguments/usage-error.ts";
import { formatWorkspace } from "../results/workspace-details.ts";

export const command = defineCommand({
  words: ["workspace", "update"],
  summary: "Change a workspace's name, labels and time to live",
  positionals: [WORKSPACE],
  options: {
    name: { type: "string", value: "NAME", description: "The new name; an empty one removes it" },
    label: { type: "string", value: "KEY=VALUE", description: "Set a label", multiple: true, parse: parseLabel },
    "clear-label": {
      type: "string",
      value: "KEY",
      description: "Remove a label",
      multiple: true,
      parse: parseLabelKey,
    },
    "ttl-seconds": {
      type: "string",
      value: "SECONDS",
      description: "How long after its last activity it expires, from now on",
      parse: parseSeconds,
    },
    keep: { type: "boolean", description: "It never expires" },
    "no-keep": { type: "boolean", description: "It expires again, when its time to live is over" },
  },
  examples: [
    "cloche workspace update ws-4 --name second",
    "cloche workspace update ws-4 --label team=web --clear-label draft",
    "cloche workspace update ws-4 --keep",
    "cloche workspace update ws-4 --no-keep --ttl-seconds 7200",
  ],
  async run(context) {
    const { name, label, "clear-label": cleared, "ttl-seconds": ttl, keep, "no-keep": letGo } = context.values;
    if (keep && letGo) throw usageError(this.words, "Cannot use --keep together with --no-keep");
    if (name === undefined && label.length + cleared.length === 0 && ttl === undefined && !keep && !letGo) {
      const advice = "Give --name, --label, --clear-label, --ttl-seconds, --keep or --no-keep.";
      throw usageError(this.words, "Nothing to update", advice);
    }
    const workspace = await (
      await context.connect()
    ).updateWorkspace(context.argument("ID"), {
      ...(name !== undefined && { name: name === "" ? null : name }),
      ...(label.length > 0 && { labels: toRecord(label) }),
      ...(cleared.length > 0 && { clear_labels: cleared }),
      ...(ttl !== undefined && { ttl_seconds: ttl }),
      ...((keep || letGo) && { keep }),
    });
    await context.print(workspace, () => formatWorkspace(workspace, Date.now() / 1000));
    return 0;
  },
});
