import { defineCommand } from "../command.ts";
import { LIST_FILES_OPTIONS, LIST_FILES_POSITIONALS, listFiles } from "../results/list-files.ts";

export const command = defineCommand({
  words: ["workspace", "disk", "list"],
  summary: "List files of a stopped workspace",
  positionals: LIST_FILES_POSITIONALS,
  options: LIST_FILES_OPTIONS,
  examples: ["cloche workspace disk list ws-4", "cloche workspace disk list ws-4 src --recursive"],
  async run(context) {
    const client = await context.connect();
    await listFiles(context, (id, options) => client.listWorkspaceDisk(id, options));
    return 0;
  },
});
