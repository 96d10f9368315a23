import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "signal"],
  summary: "Interrupt or end what runs in a shell",
  description:
    "INT is the Ctrl-C of its terminal. The others go to the shell and all that it started; bash itself ignores TERM.",
  positionals: [WORKSPACE, SHELL],
  options: {
    signal: {
      type: "string",
      value: "SIGNAL",
      description: "Which one (default: INT)",
      choices: ["HUP", "INT", "TERM", "KILL"],
    },
  },
  examples: [
    "cloche workspace shell signal ws-4 sh-1a2b3c4d",
    "cloche workspace shell signal ws-4 sh-1a2b3c4d --signal KILL",
  ],
  async run(context) {
    const sent = await (
      await context.connect()
    ).signalShell(context.argument("ID"), context.argument("SHELL"), { signal: context.values.signal });
    await context.print(sent, () => `Sent ${sent.signal} to ${sent.shell_id}`);
    return 0;
  },
});
