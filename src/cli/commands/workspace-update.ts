import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { parseLabel, parseLabelKey, toRecord } from "../arguments/option-values.ts";
import { usageError } from "../arguments/usage-error.ts";
import { formatWorkspace } from "../results/workspace-details.ts";

export const command = defineCommand({
  words: ["workspace", "update"],
  summary: "Change a workspace's name and labels",
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
  },
  examples: [
    "cloche workspace update ws-4 --name second",
    "cloche workspace update ws-4 --label team=web --clear-label draft",
  ],
  async run(context) {
    const { name, label, "clear-label": cleared } = context.values;
    if (name === undefined && label.length === 0 && cleared.length === 0) {
      throw usageError(this.words, "Nothing to update", "Give --name, --label or --clear-label.");
    }
    const workspace = await (
      await context.connect()
    ).updateWorkspace(context.argument("ID"), {
      ...(name !== undefined && { name: name === "" ? null : name }),
      ...(label.length > 0 && { labels: toRecord(label) }),
      ...(cleared.length > 0 && { clear_labels: cleared }),
    });
    await context.print(workspace, () => formatWorkspace(workspace, Date.now() / 1000));
    return 0;
  },
});
