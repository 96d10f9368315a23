import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { parseCount } from "../arguments/option-values.ts";
import { usageError } from "../arguments/usage-error.ts";

const SIGNALS = ["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2"] as const;

export const command = defineCommand({
  words: ["workspace", "kill"],
  summary: "End a command that runs in the background",
  positionals: [
    WORKSPACE,
    { name: "SEQUENCE", description: "The command's number, as `exec --detach` prints it and `logs` shows it" },
  ],
  options: {
    signal: {
      type: "string",
      value: "SIGNAL",
      description: "What to send to it and to what it has started in its group (default: TERM)",
      choices: SIGNALS,
    },
  },
  examples: ["cloche workspace kill ws-4 3", "cloche workspace kill ws-4 3 --signal KILL"],
  async run(context) {
    const { signal = "TERM" } = context.values;
    const sequence = numberOf(context.argument("SEQUENCE"), this.words);
    const client = await context.connect();
    const signalled = await client.signalCommand(context.argument("ID"), sequence, { signal });
    await context.print(signalled, () => `Sent ${signal} to command ${sequence} of ${signalled.workspace_id}`);
    return 0;
  },
});

function numberOf(text: string, words: readonly string[]): number {
  try {
    return parseCount(text);
  } catch {
    throw usageError(words, `Invalid SEQUENCE "${text}": it is a whole number above 0`);
  }
}
