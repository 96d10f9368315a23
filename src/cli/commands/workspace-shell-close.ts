import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "close"],
  summary: "End a shell and drop its output",
  positionals: [WORKSPACE, SHELL],
  options: {},
  examples: ["cloche workspace shell close ws-4 sh-1a2b3c4d"],
  async run(context) {
    const closed = await (await context.connect()).closeShell(context.argument("ID"), context.argument("SHELL"));
    await context.print(closed, () => `Closed ${closed.shell_id}`);
    return 0;
  },
});
