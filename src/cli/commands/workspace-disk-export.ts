import { formatBytes } from "../output/bytes.ts";
import { defineCommand } from "../command.ts";
import { OUTPUT, WORKSPACE } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["workspace", "disk", "export"],
  summary: "Write all files of a stopped workspace to one file of the host",
  description:
    "Nothing is overwritten: the output path must not exist yet. Links are in the file as they are in the workspace, also those that lead out of it.",
  positionals: [WORKSPACE],
  options: {
    output: OUTPUT,
    format: { type: "string", value: "FORMAT", description: "What it is (default: tar)", choices: ["tar", "ext4"] },
  },
  examples: [
    "cloche workspace disk export ws-4 --output ws-4.tar",
    "cloche workspace disk export ws-4 --output ws-4.img --format ext4",
  ],
  async run(context) {
    const client = await context.connect();
    const exported = await client.exportWorkspaceDisk(context.argument("ID"), {
      output_path: context.values.output,
      format: context.values.format,
      onProgress: context.onProgress,
    });
    const { format, size_bytes: size, output_path: path } = exported;
    await context.print(exported, () => `Wrote ${formatBytes(size)} of ${format} to ${escapeName(path)}`);
    return 0;
  },
});
