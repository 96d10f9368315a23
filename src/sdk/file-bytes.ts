import type { FileContent } from "../model/files.ts";
import type { ReadFileOptions } from "./options.ts";

/** The bytes that a read answered. */
export function contentBytes({ content, encoding }: Pick<FileContent, "content" | "encoding">): Buffer {
  return Buffer.from(content, encoding);
}

export type ReadPage = (options: Required<Pick<ReadFileOptions, "encoding">> & ReadFileOptions) => Promise<FileContent>;

/** As much as one answer holds: the daemon gives no more. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** A file from `offset` on, `max_bytes` of it or up to its end, in pieces: each is asked for when the one before it was taken. */
export async function* readPages(read: ReadPage, options: ReadFileOptions = {}): AsyncGenerator<Buffer> {
  let { offset = 0, max_bytes: left = Infinity } = options;
  for (;;) {
    const page = await read({ ...options, encoding: "base64", offset, max_bytes: Math.min(left, PAGE_BYTES) });
    const bytes = contentBytes(page);
    if (bytes.length > 0) yield bytes;
    const next = page.next_offset ?? 0;
    left -= next - offset;
    // A page that does not lead on would be asked for for ever.
    if (next <= offset || left <= 0) return;
    offset = next;
  }
}

/** Bytes as a write takes them. */
export const bytesAsText = (bytes: Uint8Array): { text: string; encoding: "base64" } => ({
  text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  encoding: "base64",
});
