import { protocolError, shownText } from "./protocol-error.ts";
import { Reader } from "./reader.ts";

/** Records of the builtins: what file work writes to its stdout and `tree-in` reads from its stdin. */
export type EntryType = "file" | "directory" | "symlink" | "other";

export interface GuestEntry {
  readonly type: EntryType;
  /** Permission bits, at most 07777. */
  readonly mode: number;
  readonly size: number;
  readonly mtimeNs: bigint;
  /** Relative to what was asked for, empty for that itself; not UTF-8 is shown by U+FFFD. */
  readonly path: string;
  readonly pathBytes: Buffer;
  /** Null unless a symlink. */
  readonly linkTarget: string | null;
  readonly linkTargetBytes: Buffer;
}

export interface FileChange {
  readonly status: "added" | "modified" | "deleted" | "type_changed";
  /** Undefined when it is gone. */
  readonly newType: EntryType | undefined;
  readonly newMode: number;
  readonly newSize: number;
  /** Undefined when it is new. */
  readonly oldType: EntryType | undefined;
  readonly oldMode: number;
  readonly oldSize: number;
  /** Whether the baseline has something there, which need not be what it is compared with. */
  readonly inBaseline: boolean;
  readonly path: string;
  readonly pathBytes: Buffer;
}

/** PROGRESS is not among them: it says only that the builtin goes on. */
export type GuestRecord =
  | { readonly kind: "entry"; readonly entry: GuestEntry }
  /** A piece of content, a view; one BYTES record may come as several. */
  | { readonly kind: "bytes"; readonly data: Buffer }
  | { readonly kind: "file-end" }
  /** Of one of many files; the next ones follow. */
  | { readonly kind: "unreadable"; readonly errno: number }
  | { readonly kind: "change"; readonly change: FileChange }
  | { readonly kind: "error"; readonly errno: number; readonly message: string }
  | { readonly kind: "done"; readonly bytes: number };

export const MAX_PATH_BYTES = 4096;
const MAX_MESSAGE_BYTES = 4096;
/** The largest record that is gathered: an ENTRY with the longest path and target. */
const MAX_RECORD_BYTES = 30 + 2 * MAX_PATH_BYTES;

const KIND = {
  ENTRY: 0x45,
  BYTES: 0x42,
  FILE_END: 0x5a,
  CHANGE: 0x43,
  ERROR: 0x58,
  DONE: 0x2e,
  REMOVE: 0x52,
  PROGRESS: 0x50,
  UNREADABLE: 0x55,
  WANTED: 0x47,
} as const;
const NONE = 0x2d;
const TYPES = new Map<number, EntryType>([
  [0x66, "file"],
  [0x64, "directory"],
  [0x6c, "symlink"],
  [0x6f, "other"],
]);
const TYPE_BYTES = new Map<EntryType, number>([...TYPES].map(([byte, type]) => [type, byte]));
/** A status is a small letter then. */
const NOT_IN_BASELINE = 0x20;
const STATUSES = new Map<number, FileChange["status"]>([
  [0x41, "added"],
  [0x4d, "modified"],
  [0x44, "deleted"],
  [0x54, "type_changed"],
]);

/**
 * Cuts chunks of a builtin's stdout into records. Content is passed through as it comes; of other records at most one is held, so
 * memory does not depend on what the guest says.
 */
export class RecordDecoder {
  readonly #held = Buffer.allocUnsafe(MAX_RECORD_BYTES);
  #heldBytes = 0;
  #contentLeft = 0;
  #last = false;

  /** Whether DONE or ERROR has come. */
  get finished(): boolean {
    return this.#last;
  }

  /** Records that are complete with this chunk; their `data` are views of it. Throws GUEST_PROTOCOL. */
  *push(chunk: Buffer): Generator<GuestRecord, void, undefined> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#last) throw protocolError("a record after the last");
      if (this.#contentLeft > 0) {
        const end = Math.min(chunk.length, at + this.#contentLeft);
        this.#contentLeft -= end - at;
        yield { kind: "bytes", data: chunk.subarray(at, end) };
        at = end;
        continue;
      }
      const record = this.#heldBytes > 0 ? undefined : chunk.subarray(at);
      const needed = record ? recordBytes(record) : recordBytes(this.#held.subarray(0, this.#heldBytes));
      if (record && needed <= record.length) {
        at += needed;
        yield* this.#decode(record.subarray(0, needed));
        continue;
      }
      const count = Math.min(needed - this.#heldBytes, chunk.length - at);
      chunk.copy(this.#held, this.#heldBytes, at, at + count);
      this.#heldBytes += count;
      at += count;
      if (recordBytes(this.#held.subarray(0, this.#heldBytes)) > this.#heldBytes) continue;
      const whole = this.#held.subarray(0, this.#heldBytes);
      this.#heldBytes = 0;
      yield* this.#decode(whole);
    }
  }

  *#decode(record: Buffer): Generator<GuestRecord, void, undefined> {
    const reader = new Reader(record, "a record");
    switch (reader.u8()) {
      case KIND.ENTRY:
        yield { kind: "entry", entry: readEntry(reader) };
        break;
      case KIND.BYTES:
        this.#contentLeft = reader.u32();
        break;
      case KIND.FILE_END:
        yield { kind: "file-end" };
        break;
      case KIND.UNREADABLE:
        yield { kind: "unreadable", errno: reader.u32() };
        break;
      case KIND.PROGRESS:
        break;
      case KIND.CHANGE:
        yield { kind: "change", change: readChange(reader) };
        break;
      case KIND.ERROR:
        this.#last = true;
        yield { kind: "error", errno: reader.u32(), message: shownText(reader.str(MAX_MESSAGE_BYTES)) };
        break;
      default:
        this.#last = true;
        yield { kind: "done", bytes: reader.u64() };
    }
    reader.end();
  }
}

/** How long the record that starts here is, or the next length at which more is known; longer than `bytes` when it is cut. */
function recordBytes(bytes: Buffer): number {
  switch (bytes[0]) {
    case undefined:
      return 1;
    case KIND.FILE_END:
    case KIND.PROGRESS:
      return 1;
    case KIND.BYTES:
    case KIND.UNREADABLE:
      return 5;
    case KIND.DONE:
      return 9;
    case KIND.ERROR:
      return afterStr(bytes, 5, MAX_MESSAGE_BYTES);
    case KIND.CHANGE:
      return afterStr(bytes, 28, MAX_PATH_BYTES);
    case KIND.ENTRY: {
      const target = afterStr(bytes, 22, MAX_PATH_BYTES);
      return target > bytes.length ? target : afterStr(bytes, target, MAX_PATH_BYTES);
    }
    default:
      throw protocolError(`a record of kind ${bytes[0]}`);
  }
}

function afterStr(bytes: Buffer, at: number, max: number): number {
  if (bytes.length < at + 4) return at + 4;
  const length = bytes.readUInt32LE(at);
  // SECURITY: checked before anything is gathered (G-10)
  if (length > max) throw protocolError(`a text of ${length} bytes in a record`);
  return at + 4 + length;
}

function readEntry(reader: Reader): GuestEntry {
  const type = readType(reader);
  if (type === undefined) throw protocolError("an entry without a type");
  const mode = readMode(reader);
  const size = reader.u64();
  const mtimeNs = reader.i64();
  const pathBytes = readPath(reader);
  const linkTargetBytes = Buffer.from(reader.str(MAX_PATH_BYTES));
  const isLink = type === "symlink";
  if (isLink !== linkTargetBytes.length > 0) throw protocolError("a link without a target, or a target without a link");
  const linkTarget = isLink ? linkTargetBytes.toString("utf8") : null;
  return { type, mode, size, mtimeNs, path: pathBytes.toString("utf8"), pathBytes, linkTarget, linkTargetBytes };
}

function readChange(reader: Reader): FileChange {
  const statusByte = reader.u8();
  const status = STATUSES.get(statusByte & ~NOT_IN_BASELINE);
  const inBaseline = (statusByte & NOT_IN_BASELINE) === 0;
  if (status === undefined) throw protocolError(`a change of kind ${statusByte}`);
  const newType = readType(reader);
  const newMode = readMode(reader);
  const newSize = reader.u64();
  const oldType = readType(reader);
  const oldMode = readMode(reader);
  const oldSize = reader.u64();
  const pathBytes = readPath(reader);
  if (pathBytes.length === 0) throw protocolError("a change without a path");
  if ((newType === undefined) !== (status === "deleted") || (oldType === undefined) !== (status === "added")) {
    throw protocolError("a change whose types do not fit its kind");
  }
  const path = pathBytes.toString("utf8");
  return { status, newType, newMode, newSize, oldType, oldMode, oldSize, inBaseline, path, pathBytes };
}

function readType(reader: Reader): EntryType | undefined {
  const byte = reader.u8();
  if (byte === NONE) return undefined;
  const type = TYPES.get(byte);
  if (type === undefined) throw protocolError(`a file of type ${byte}`);
  return type;
}

function readMode(reader: Reader): number {
  const mode = reader.u32();
  if (mode > 0o7777) throw protocolError(`a file mode of ${mode}`);
  return mode;
}

/** A copy, so that a path does not hold the chunk it came in. */
function readPath(reader: Reader): Buffer {
  const path = Buffer.from(reader.str(MAX_PATH_BYTES));
  // SECURITY: what uses these paths joins them to a folder of the host (G-10, G-12)
  if (path.length > 0 && !isPlainPath(path)) throw protocolError("a path that is not plain");
  return path;
}

/** Relative, without empty, `.` and `..` components. */
export function isPlainPath(path: Buffer): boolean {
  return path
    .toString("latin1")
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== "..");
}

export function encodeEntry(entry: Omit<GuestEntry, "path" | "linkTarget">): Buffer {
  const { pathBytes, linkTargetBytes } = entry;
  const record = Buffer.allocUnsafe(30 + pathBytes.length + linkTargetBytes.length);
  record[0] = KIND.ENTRY;
  record[1] = TYPE_BYTES.get(entry.type) ?? 0;
  record.writeUInt32LE(entry.mode, 2);
  record.writeBigUInt64LE(BigInt(entry.size), 6);
  record.writeBigInt64LE(entry.mtimeNs, 14);
  let at = record.writeUInt32LE(pathBytes.length, 22);
  at += pathBytes.copy(record, at);
  at = record.writeUInt32LE(linkTargetBytes.length, at);
  linkTargetBytes.copy(record, at);
  return record;
}

/** How `changes` looks at a path: `asking` stops at folders that the baseline does not have and tells of them. */
export type ChangesManner = "asking" | "whole" | "counting";
const MANNERS = { asking: 0x3f, whole: 0x2a, counting: 0x23 } as const;

/** Only on the way in: a path whose changes are asked for. */
export function encodeChangesAsked(manner: ChangesManner, pathBytes: Buffer): Buffer {
  const record = Buffer.alloc(5 + pathBytes.length);
  record[0] = MANNERS[manner];
  record.writeUInt32LE(pathBytes.length, 1);
  pathBytes.copy(record, 5);
  return record;
}

/** Only on the way in: a file that is to be read, and the most that is wanted of it. */
export function encodeWanted(pathBytes: Buffer, maxBytes: number): Buffer {
  const record = Buffer.allocUnsafe(13 + pathBytes.length);
  record[0] = KIND.WANTED;
  record.writeBigUInt64LE(BigInt(maxBytes), 1);
  record.writeUInt32LE(pathBytes.length, 9);
  pathBytes.copy(record, 13);
  return record;
}

/** Only on the way in: what is at this path goes. */
export function encodeRemoval(pathBytes: Buffer): Buffer {
  const record = Buffer.alloc(5 + pathBytes.length);
  record[0] = KIND.REMOVE;
  record.writeUInt32LE(pathBytes.length, 1);
  pathBytes.copy(record, 5);
  return record;
}

/** The head of a BYTES record; the content follows. */
export function encodeBytesHead(length: number): Buffer {
  const record = Buffer.allocUnsafe(5);
  record[0] = KIND.BYTES;
  record.writeUInt32LE(length, 1);
  return record;
}

export function encodeFileEnd(): Buffer {
  return Buffer.of(KIND.FILE_END);
}

export function encodeDone(bytes: number): Buffer {
  const record = Buffer.allocUnsafe(9);
  record[0] = KIND.DONE;
  record.writeBigUInt64LE(BigInt(bytes), 1);
  return record;
}
