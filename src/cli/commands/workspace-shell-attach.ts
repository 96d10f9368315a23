import { attachTerminal } from "../terminal/attach-terminal.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "attach"],
  summary: "Sit down at a shell; Ctrl-] leaves it running",
  description: "Needs a terminal. The shell gets its size. When the shell ends, its exit code is ours.",
  positionals: [WORKSPACE, SHELL],
  options: {},
  examples: ["cloche workspace shell attach ws-4 sh-1a2b3c4d"],
  async run(context) {
    return await attachTerminal(context, this.words, async (size) => {
      const client = await context.connect();
      return client.attachShell(context.argument("ID"), context.argument("SHELL"), size);
    });
  },
});
