import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { COLS, ROWS, SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "resize"],
  summary: "Change the size of a shell's terminal",
  positionals: [WORKSPACE, SHELL],
  options: { cols: { ...COLS, required: true }, rows: { ...ROWS, required: true } },
  examples: ["cloche workspace shell resize ws-4 sh-1a2b3c4d --cols 100 --rows 40"],
  async run(context) {
    const { cols, rows } = context.values;
    const shell = await (
      await context.connect()
    ).resizeShell(context.argument("ID"), context.argument("SHELL"), { cols, rows });
    await context.print(shell, () => `${shell.shell_id} has ${shell.cols} columns and ${shell.rows} rows`);
    return 0;
  },
});
