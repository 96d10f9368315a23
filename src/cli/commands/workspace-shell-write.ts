import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "write"],
  summary: "Type into a shell",
  positionals: [WORKSPACE, SHELL],
  options: {
    input: { type: "string", value: "TEXT", description: "What is typed, followed by Enter", required: true },
    "no-newline": { type: "boolean", description: "Without Enter" },
  },
  examples: [
    "cloche workspace shell write ws-4 sh-1a2b3c4d --input 'npm test'",
    "cloche workspace shell write ws-4 sh-1a2b3c4d --input q --no-newline",
  ],
  async run(context) {
    const { input, "no-newline": noNewline } = context.values;
    const written = await (
      await context.connect()
    ).writeShell(context.argument("ID"), context.argument("SHELL"), { input, append_newline: !noNewline });
    await context.print(written, () => `Typed ${written.bytes_written} bytes into ${written.shell_id}`);
    return 0;
  },
});
