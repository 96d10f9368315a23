import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";
import { readTextSource } from "../arguments/text-source.ts";
import { usageError } from "../arguments/usage-error.ts";

export const command = defineCommand({
  words: ["workspace", "file", "write"],
  summary: "Write a text file",
  description: "Folders that are missing are made; a file that exists is replaced.",
  positionals: [WORKSPACE, { name: "PATH", description: "A file under /workspace" }],
  options: {
    text: { type: "string", value: "TEXT", description: "The content" },
    "text-file": {
      type: "string",
      value: "PATH",
      description: "A file of the host with the content; - is standard input",
      completes: "host-path",
    },
  },
  examples: [
    "cloche workspace file write ws-4 notes.txt --text hello",
    "cloche workspace file write ws-4 src/app.py --text-file app.py",
  ],
  async run(context) {
    const { text, "text-file": textFile } = context.values;
    if ((text === undefined) === (textFile === undefined))
      throw usageError(this.words, "Give one of --text and --text-file");
    const content = text ?? (await readTextSource(context.io, textFile ?? "-", this.words, "--text-file"));
    const client = await context.connect();
    const written = await client.writeWorkspaceFile(context.argument("ID"), context.argument("PATH"), {
      text: content,
    });
    await context.print(written, () => `Wrote ${written.bytes_written} bytes to ${escapeName(written.path)}`);
    return 0;
  },
});
