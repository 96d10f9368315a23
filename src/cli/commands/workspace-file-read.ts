import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHOW_FILE_OPTIONS, showFile } from "../results/show-file.ts";

export const command = defineCommand({
  words: ["workspace", "file", "read"],
  summary: "Show a file",
  positionals: [WORKSPACE, { name: "PATH", description: "A file under /workspace" }],
  options: SHOW_FILE_OPTIONS,
  examples: ["cloche workspace file read ws-4 README.md", "cloche workspace file read ws-4 picture.png > picture.png"],
  async run(context) {
    const client = await context.connect();
    await showFile(context, (options) =>
      client.readWorkspaceFile(context.argument("ID"), context.argument("PATH"), options),
    );
    return 0;
  },
});
