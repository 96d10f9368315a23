import { isUtf8 } from "node:buffer";
import { failure } from "../../model/error-codes.ts";
import type { FileContent } from "../../model/files.ts";
import { contentBytes, readPages } from "../../sdk/file-bytes.ts";
import type { ReadFileOptions } from "../../sdk/options.ts";
import { formatBytes } from "../output/bytes.ts";
import type { Context } from "../command.ts";
import { escapeText } from "../output/escape.ts";
import type { OptionSpecs } from "../arguments/option-spec.ts";
import { parseCount } from "../arguments/option-values.ts";
import { writeAll } from "../output/write-all.ts";

const DEFAULT_MAX_BYTES = 65_536;
/** Of a document, and of what a terminal is shown: these are made in memory. */
const WHOLE_FILE_MAX_BYTES = 67_108_864;

/** Of every command that shows a file. */
export const SHOW_FILE_OPTIONS = {
  "max-bytes": {
    type: "string",
    value: "N",
    description: "Read no more than this (default: the whole file; on a terminal and with --json 65536)",
    parse: parseCount,
  },
  "content-only": {
    type: "boolean",
    description: "Print the whole content and nothing else, on a terminal and with --json too",
  },
} as const satisfies OptionSpecs;

type Read = (options: ReadFileOptions) => Promise<FileContent>;

/** Reads as much as was asked for and prints it: to a pipe or a file byte for byte, to a terminal so that it drives nothing. */
export async function showFile(context: Context<typeof SHOW_FILE_OPTIONS>, read: Read): Promise<void> {
  const { "max-bytes": asked, "content-only": contentOnly } = context.values;
  const max_bytes = asked ?? (contentOnly ? undefined : DEFAULT_MAX_BYTES);
  if (context.json) await context.print(await readWhole(read, max_bytes), () => "");
  else if (context.onTerminal) await showOnTerminal(context, await readWhole(read, max_bytes));
  else for await (const page of readPages(read, { max_bytes: asked })) await writeAll(context.io.stdout, page);
}

async function showOnTerminal(context: Context<typeof SHOW_FILE_OPTIONS>, file: FileContent): Promise<void> {
  // It ends its line and drives nothing, also when it is asked for alone. What is no text is shown as far as it is.
  const text = contentBytes(file).toString("utf8");
  await writeAll(context.io.stdout, escapeText(text.replace(/([^\n])$/, "$1\n")));
  if (file.encoding === "base64") context.note("note: this is no text; redirect it to a file to have it as it is");
  if (file.truncated)
    context.note(`note: this is the beginning of ${formatBytes(file.size_bytes)}; --max-bytes shows more`);
}

/** As one document, up to `max_bytes`: an answer has a limit of its own, and what comes after it is asked for. */
async function readWhole(read: Read, max_bytes: number | undefined): Promise<FileContent> {
  const first = await read({ max_bytes });
  if (max_bytes === undefined && first.size_bytes > WHOLE_FILE_MAX_BYTES) {
    throw failure("FILE_TOO_LARGE", `Cannot show "${first.path}" at once: it has ${formatBytes(first.size_bytes)}`, {
      hint: "Redirect it to a file, without --json, or read a part of it with --max-bytes",
    });
  }
  if (first.next_offset === null || (max_bytes !== undefined && first.next_offset >= max_bytes)) return first;
  const pages = [contentBytes(first)];
  const rest = max_bytes === undefined ? undefined : max_bytes - first.next_offset;
  let last = first;
  const noted: Read = async (options) => (last = await read(options));
  for await (const page of readPages(noted, { offset: first.next_offset, max_bytes: rest })) pages.push(page);
  const content = Buffer.concat(pages);
  const encoding = isUtf8(content) ? "utf8" : "base64";
  const { truncated, next_offset } = last;
  return { ...first, content: content.toString(encoding), encoding, truncated, next_offset };
}
