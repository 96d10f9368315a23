import { defineCommand } from "../command.ts";
import { SNAPSHOT, WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "snapshot", "delete"],
  summary: "Delete a snapshot",
  description: "Workspaces that were reset to it or forked from it keep their files.",
  positionals: [WORKSPACE, SNAPSHOT],
  options: {},
  examples: ["cloche workspace snapshot delete ws-4 before-refactoring"],
  async run(context) {
    const deleted = await (await context.connect()).deleteSnapshot(context.argument("ID"), context.argument("NAME"));
    await context.print(deleted, () => `Deleted snapshot "${deleted.snapshot_name}"`);
    return 0;
  },
});
