import { defineCommand } from "../command.ts";
import { OUTPUT, WORKSPACE } from "../common-options.ts";
import { escapeName } from "../escape.ts";

export const command = defineCommand({
  words: ["workspace", "export"],
  summary: "Copy a file or folder out to the host",
  description: "Nothing is overwritten: the output path must not exist yet.",
  positionals: [WORKSPACE, { name: "PATH", description: "A file or folder under /workspace" }],
  options: { output: OUTPUT },
  examples: [
    "cloche workspace export ws-4 dist --output ./dist",
    "cloche workspace export ws-4 report.html --output /tmp/report.html",
  ],
  async run(context) {
    const client = await context.connect();
    const exported = await client.exportWorkspace(context.argument("ID"), context.argument("PATH"), {
      output_path: context.values.output,
    });
    await context.print(
      exported,
      () =>
        `Wrote the ${exported.artifact_type} ${escapeName(exported.workspace_path)} to ${escapeName(exported.output_path)}`,
    );
    return 0;
  },
});
