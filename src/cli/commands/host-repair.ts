import { HOSTS, type HostName } from "../../model/host.ts";
import { defineCommand } from "../command.ts";
import { escapeText } from "../output/escape.ts";
import { printHostChange } from "../results/host-change.ts";
import { hostSetting } from "../arguments/host-setting.ts";
import { colourPatch } from "../results/patch-colours.ts";
import { SERVE_OPTIONS } from "../arguments/serve-options.ts";

export const command = defineCommand({
  words: ["host", "repair"],
  summary: "Write the entry that a host should have into its configuration",
  description: [
    "Only cloche's own entry changes; the file as it was is kept in the cloche home. A file that cannot be read is left alone.",
    "Options that the entry has are kept unless others are given.",
  ].join("\n"),
  positionals: [{ name: "HOST", description: "The agent or editor", choices: HOSTS }],
  options: SERVE_OPTIONS,
  examples: ["cloche host repair codex", "cloche host repair cursor --project-path ~/code/app"],
  async run(context) {
    const { repairHost } = await import("../../hosts/repair-host.ts");
    const host = context.argument("HOST") as HostName;
    const done = await repairHost(host, hostSetting(context));
    await printHostChange(context, done, () =>
      done.diff === null
        ? `Nothing to repair: ${host} is connected`
        : colourPatch(escapeText(done.diff), context.colours),
    );
    return 0;
  },
});
