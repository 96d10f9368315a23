import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "delete"],
  summary: "Delete a workspace and all that is in it",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace delete ws-4"],
  async run(context) {
    const deleted = await (await context.connect()).deleteWorkspace(context.argument("ID"));
    await context.print(deleted, () => `Deleted ${deleted.workspace_id}`);
    return 0;
  },
});
