import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatFiles } from "../results/file-table.ts";

export const command = defineCommand({
  words: ["workspace", "file", "list"],
  summary: "List files",
  positionals: [
    WORKSPACE,
    { name: "PATH", description: "A folder under /workspace (default: all of it)", optional: true },
  ],
  options: { recursive: { type: "boolean", description: "Folders in folders too" } },
  examples: ["cloche workspace file list ws-4", "cloche workspace file list ws-4 src --recursive"],
  async run(context) {
    const client = await context.connect();
    const list = await client.listWorkspaceFiles(context.argument("ID"), {
      path: context.optionalArgument("PATH"),
      recursive: context.values.recursive,
    });
    if (list.entries.length === 0 && !context.json) context.note("No files");
    await context.print(list, () => (list.entries.length === 0 ? "" : formatFiles(list.entries, context.layout)));
    return 0;
  },
});
