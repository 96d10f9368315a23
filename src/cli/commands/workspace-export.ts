import { defineCommand } from "../command.ts";
import { LINKS, OUTPUT, OVERWRITE, WORKSPACE } from "../arguments/common-options.ts";
import { printExported } from "../results/exported.ts";

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
    await printExported(context, exported);
    return 0;
  },
});
