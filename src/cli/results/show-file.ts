import { failure } from "../../model/error-codes.ts";
import type { FileContent } from "../../model/files.ts";
import { formatBytes } from "../output/bytes.ts";
import type { Context } from "../command.ts";
import { escapeText } from "../output/escape.ts";
import type { OptionSpecs } from "../arguments/option-spec.ts";
import { parseCount } from "../arguments/option-values.ts";
import { writeAll } from "../output/write-all.ts";

const DEFAULT_MAX_BYTES = 65_536;
const WHOLE_FILE_MAX_BYTES = 67_108_864;

/** Of every command that shows a file. */
export const SHOW_FILE_OPTIONS = {
  "max-bytes": {
    type: "string",
    value: "N",
    description: "Read no more than this (default: 65536; with --content-only the whole file)",
    parse: parseCount,
  },
  "content-only": {
    type: "boolean",
    description: "Print the whole content and nothing else, as it is unless to a terminal",
  },
} as const satisfies OptionSpecs;

/** Reads as much as was asked for and prints it. */
export async function showFile(
  context: Context<typeof SHOW_FILE_OPTIONS>,
  read: (maxBytes: number, offset?: number) => Promise<FileContent>,
): Promise<void> {
  const { "max-bytes": maxBytes, "content-only": contentOnly } = context.values;
  let file = await read(maxBytes ?? DEFAULT_MAX_BYTES);
  // A caller that asks for the content alone would take it for the whole file.
  if (contentOnly && maxBytes === undefined && file.truncated) {
    if (file.size_bytes <= WHOLE_FILE_MAX_BYTES) file = await readOn(file, read);
    if (file.truncated)
      throw failure("FILE_TOO_LARGE", `Cannot read "${file.path}" as a whole: it has ${formatBytes(file.size_bytes)}`);
  }
  if (context.json) {
    await context.print(file, () => "");
    return;
  }
  // On a terminal it ends its line and drives nothing, also when it is asked for alone; piped, it is what is in the file.
  const shown = context.onTerminal ? escapeText(file.content.replace(/([^\n])$/, "$1\n")) : file.content;
  await writeAll(context.io.stdout, shown);
  if (file.truncated)
    context.note(`note: this is the beginning of ${formatBytes(file.size_bytes)}; --max-bytes shows more`);
}

/** An answer has a limit of its own: what comes after it is asked for until the end. */
async function readOn(
  first: FileContent,
  read: (maxBytes: number, offset?: number) => Promise<FileContent>,
): Promise<FileContent> {
  const parts = [first.content];
  let last = first;
  let bytes = 0;
  while (last.next_offset !== null && bytes < WHOLE_FILE_MAX_BYTES) {
    last = await read(WHOLE_FILE_MAX_BYTES, last.next_offset);
    parts.push(last.content);
    bytes = last.next_offset ?? 0;
  }
  return { ...last, content: parts.join(""), offset: first.offset };
}
