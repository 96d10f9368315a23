import { isUtf8 } from "node:buffer";
import { bytesAsText } from "../../sdk/file-bytes.ts";
import { failure } from "../../model/error-codes.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";
import { readSource } from "../arguments/text-source.ts";
import { usageError } from "../arguments/usage-error.ts";

/** Of one call. */
const MOST_CHARACTERS = 16_777_216;

/** Text goes as text: base64 makes a third more of it. */
const toContent = (bytes: Uint8Array) =>
  isUtf8(bytes) ? { text: Buffer.from(bytes).toString("utf8") } : bytesAsText(bytes);

export const command = defineCommand({
  words: ["workspace", "file", "write"],
  summary: "Write a file",
  description:
    "Folders that are missing are made; a file that exists is replaced. What a file or standard input holds arrives byte for byte: at most 16 MiB of text, or 12 MiB of anything else; `cloche workspace cp` takes more.",
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
    "curl -s https://example.com/logo.png | cloche workspace file write ws-4 logo.png --text-file -",
  ],
  async run(context) {
    const { text, "text-file": textFile } = context.values;
    if ((text === undefined) === (textFile === undefined))
      throw usageError(this.words, "Give one of --text and --text-file");
    const content =
      text === undefined
        ? toContent(await readSource(context.io, textFile ?? "-", this.words, "--text-file"))
        : { text };
    if (content.text.length > MOST_CHARACTERS) {
      throw failure("FILE_TOO_LARGE", `Cannot write "${context.argument("PATH")}" at once: it is too large`, {
        hint: "Copy it with `cloche workspace cp FILE ID:PATH`",
      });
    }
    const client = await context.connect();
    const written = await client.writeWorkspaceFile(context.argument("ID"), context.argument("PATH"), content);
    await context.print(written, () => `Wrote ${written.bytes_written} bytes to ${escapeName(written.path)}`);
    return 0;
  },
});
