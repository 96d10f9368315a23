import { defineCommand } from "../command.ts";
import { LINKS, OUTPUT, OVERWRITE, WORKSPACE } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["workspace", "export"],
  summary: "Copy a file or folder out to the host",
  description:
    "Nothing is overwritten: the output path must not exist yet, unless --overwrite says so. Links that stay within what is exported come along; one that leads out of it stops the export.",
  positionals: [WORKSPACE, { name: "PATH", description: "A file or folder under /workspace" }],
  options: {
    output: OUTPUT,
    overwrite: OVERWRITE,
    links: LINKS,
  },
  examples: [
    "cloche workspace export ws-4 dist --output ./dist",
    "cloche workspace export ws-4 report.html --output /tmp/report.html",
  ],
  async run(context) {
    const client = await context.connect();
    const exported = await client.exportWorkspace(context.argument("ID"), context.argument("PATH"), {
      output_path: context.values.output,
      links: context.values.links,
      overwrite: context.values.overwrite || undefined,
    });
    await context.print(
      exported,
      () =>
        `Wrote the ${exported.artifact_type} ${escapeName(exported.workspace_path)} to ${escapeName(exported.output_path)}`,
    );
    const { skipped_links: skipped } = exported;
    if (skipped > 0 && !context.json)
      context.note(`note: left out ${skipped} ${skipped === 1 ? "link that leads" : "links that lead"} out`);
    return 0;
  },
});
