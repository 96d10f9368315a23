import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHOW_FILE_OPTIONS, showFile } from "../results/show-file.ts";

export const command = defineCommand({
  words: ["workspace", "disk", "read"],
  summary: "Show a file of a stopped workspace",
  positionals: [WORKSPACE, { name: "PATH", description: "A file under /workspace" }],
  options: SHOW_FILE_OPTIONS,
  examples: [
    "cloche workspace disk read ws-4 README.md",
    "cloche workspace disk read ws-4 out.txt --content-only > out.txt",
  ],
  async run(context) {
    const client = await context.connect();
    await showFile(context, (options) =>
      client.readWorkspaceDisk(context.argument("ID"), context.argument("PATH"), options),
    );
    return 0;
  },
});
