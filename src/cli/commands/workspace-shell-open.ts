import { defineCommand } from "../command.ts";
import { SECRET_ENV, WORKSPACE } from "../arguments/common-options.ts";
import { toRecord } from "../arguments/option-values.ts";
import { COLS, ROWS } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "open"],
  summary: "Open a shell that stays",
  description: "It goes on while nobody is attached, until it ends, is closed, or its sandbox is gone.",
  positionals: [WORKSPACE],
  options: {
    cwd: { type: "string", value: "PATH", description: "The folder under /workspace to start in" },
    cols: { ...COLS, description: "Columns of its terminal (default: 120)" },
    rows: { ...ROWS, description: "Rows of its terminal (default: 30)" },
    "secret-env": SECRET_ENV,
    "id-only": { type: "boolean", description: "Print the id and nothing else" },
  },
  examples: ["cloche workspace shell open ws-4", "SHELL_ID=$(cloche workspace shell open ws-4 --cwd src --id-only)"],
  async run(context) {
    const { values } = context;
    const id = context.argument("ID");
    const shell = await (
      await context.connect()
    ).openShell(id, {
      cwd: values.cwd,
      cols: values.cols,
      rows: values.rows,
      secret_env: toRecord(values["secret-env"]),
    });
    const next = `Next: ${context.io.program} workspace shell attach ${shell.workspace_id} ${shell.shell_id}`;
    await context.print(shell, () =>
      values["id-only"] ? shell.shell_id : `${shell.shell_id}\n${context.colours.dim(next)}`,
    );
    return 0;
  },
});
