import type { ContentRecord } from "./builtin.ts";
import { gatherPieces } from "./gather-pieces.ts";
import { protocolError } from "./protocol-error.ts";
import { encodeDone, encodeWanted, type GuestEntry } from "./records.ts";

/** One of many files that are read in one call. */
export interface FileWanted {
  readonly path: string | Uint8Array;
  /** The most that is read of it. */
  readonly maxBytes: number;
}

/** What is there: of a file its content, of anything else nothing but its entry. Or why it cannot be told. */
export type FileFound =
  { readonly entry: GuestEntry; readonly content: Buffer } | { readonly entry: undefined; readonly errno: number };

/** The input of `read-many`. */
export function encodeMany(wanted: readonly FileWanted[]): AsyncGenerator<Uint8Array> {
  return gatherPieces(wantedRecords(wanted));
}

// eslint-disable-next-line @typescript-eslint/require-await -- pieces are a stream
async function* wantedRecords(wanted: readonly FileWanted[]): AsyncGenerator<Buffer> {
  for (const { path, maxBytes } of wanted) yield encodeWanted(Buffer.from(path as string), maxBytes);
  yield encodeDone(0);
}

/**
 * What `read-many` tells, one for each that was wanted, in their order. Each is whole when it is given, and no more than that is held here.
 * SECURITY: the guest says neither how many there are nor how long they may be (G-10).
 */
export async function* decodeMany(
  records: AsyncGenerator<ContentRecord, void, undefined>,
  wanted: readonly FileWanted[],
): AsyncGenerator<FileFound, void, undefined> {
  try {
    for (const { maxBytes } of wanted) yield await nextFile(records, maxBytes);
    const last = await records.next();
    if (last.done !== true && last.value.kind !== "done") throw protocolError("more files than were asked for");
  } finally {
    await records.return();
  }
}

async function nextFile(records: AsyncGenerator<ContentRecord, void, undefined>, maxBytes: number): Promise<FileFound> {
  const parts: Buffer[] = [];
  let entry: GuestEntry | undefined;
  let size = 0;
  for (;;) {
    const { value: record } = await records.next();
    if (!record || record.kind === "done") throw protocolError("fewer files than were asked for");
    if (record.kind === "unreadable") return { entry: undefined, errno: record.errno };
    if (record.kind === "entry" && entry === undefined) entry = record.entry;
    else if (record.kind === "bytes" && entry?.type === "file") {
      size += record.data.length;
      if (size > maxBytes) throw protocolError("more content than asked for");
      parts.push(record.data);
    } else if (record.kind === "file-end" && entry !== undefined) return { entry, content: Buffer.concat(parts, size) };
    else throw protocolError(`a ${record.kind} record among files`);
  }
}
