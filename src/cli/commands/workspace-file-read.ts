import { failure } from "../../model/error-codes.ts";
import { formatBytes } from "../bytes.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../common-options.ts";
import { escapeText } from "../escape.ts";
import { parseCount } from "../option-values.ts";
import { writeAll } from "../write-all.ts";

const DEFAULT_MAX_BYTES = 65_536;
const WHOLE_FILE_MAX_BYTES = 67_108_864;

export const command = defineCommand({
  words: ["workspace", "file", "read"],
  summary: "Show a file",
  positionals: [WORKSPACE, { name: "PATH", description: "A file under /workspace" }],
  options: {
    "max-bytes": {
      type: "string",
      value: "N",
      description: "Read no more than this (default: 65536; with --content-only the whole file)",
      parse: parseCount,
    },
    "content-only": { type: "boolean", description: "Print the content as it is and nothing else" },
  },
  examples: [
    "cloche workspace file read ws-4 README.md",
    "cloche workspace file read ws-4 out.txt --content-only > out.txt",
  ],
  async run(context) {
    const { "max-bytes": maxBytes, "content-only": contentOnly } = context.values;
    const client = await context.connect();
    const read = (max_bytes: number) =>
      client.readWorkspaceFile(context.argument("ID"), context.argument("PATH"), { max_bytes });
    let file = await read(maxBytes ?? DEFAULT_MAX_BYTES);
    // Whoever asks for the content alone takes it for the whole file.
    if (contentOnly && maxBytes === undefined && file.truncated) {
      if (file.size_bytes <= WHOLE_FILE_MAX_BYTES) file = await read(WHOLE_FILE_MAX_BYTES);
      if (file.truncated)
        throw failure("FILE_TOO_LARGE", `Cannot read "${file.path}" as a whole: it has ${formatBytes(file.size_bytes)}`);
    }
    if (context.json) {
      await context.print(file, () => "");
      return 0;
    }
    // On a terminal it ends its line and drives nothing; piped or asked for alone, it is what is in the file.
    const shown =
      context.onTerminal && !contentOnly ? escapeText(file.content.replace(/([^\n])$/, "$1\n")) : file.content;
    await writeAll(context.io.stdout, shown);
    if (file.truncated)
      context.note(`note: this is the beginning of ${formatBytes(file.size_bytes)}; --max-bytes shows more`);
    return 0;
  },
});
