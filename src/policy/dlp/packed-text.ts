import { constants, inflateRawSync } from "node:zlib";
import type { ByteScanner } from "./byte-scanner.ts";
import { Layer, type Piece } from "./layer.ts";
import type { Match } from "./match.ts";

/** So many packed texts of one body are unpacked, each to so many bytes: one who sends more only wants to cost time. */
const MAX_PACKED = 8;
const MAX_BYTES = 4 * 1024 * 1024;
/** And so many bytes are tried in all, of what only begins like one. */
const MAX_TRIED = 1024 * 1024;
/** A shorter text has no room for a secret and what packing adds. */
const SHORTEST = 24;

interface Packed {
  readonly piece: Piece;
  readonly unpacked: Uint8Array;
  readonly view: readonly string[];
}

/** What begins a packed text: bytes that are rare elsewhere, where they stand in it, and how the rest is read. */
interface Beginning {
  readonly rare: Buffer;
  readonly before: number;
  readonly view: readonly string[];
  /** Behind the last byte that belongs to it. */
  readonly end: (bytes: Buffer, start: number) => number;
  readonly read: (text: Buffer) => Buffer;
  /** How many bytes come before what was packed; undefined when it is none. */
  readonly head: (packed: Buffer) => number | undefined;
}

const runOf =
  (isPart: (byte: number) => boolean) =>
  (bytes: Buffer, start: number): number => {
    let end = start;
    while (end < bytes.length && isPart(bytes[end] ?? 0)) end++;
    return end;
  };
// In lines too, as programs that encode write them, also where the breaks are escapes.
const ofBase64 = runOf((byte) => /[\w+/\\\r\n-]/.test(String.fromCharCode(byte)));
const ofHex = runOf((byte) => /[0-9a-fA-F\\nr\r\n]/.test(String.fromCharCode(byte)));
const inOneLine = (text: Buffer): string => text.toString("latin1").replaceAll(/\\[nr]|[\r\n]/g, "");
const fromBase64 = (text: Buffer): Buffer => Buffer.from(inOneLine(text), "base64");
const fromHex = (text: Buffer): Buffer => Buffer.from(inOneLine(text), "hex");
const toTheEnd = (bytes: Buffer): number => bytes.length;
const asIs = (text: Buffer): Buffer => text;
const gzip = { head: gzipHead } as const;
const zlib = { head: () => 2 } as const;
const zip = { head: zipHead } as const;

const base64 = { view: ["base64", "packed"], end: ofBase64, read: fromBase64 } as const;
const hex = { view: ["hex", "packed"], end: ofHex, read: fromHex } as const;
const bare = { view: ["packed"], end: toTheEnd, read: asIs } as const;

/** The head of gzip, `1f 8b 08`, those of zlib, `78` and how hard it was tried, and that of a file in a zip archive, as they stand and encoded. */
const BEGINNINGS: readonly Beginning[] = [
  { rare: Buffer.from([0x1f, 0x8b, 0x08]), before: 0, ...bare, ...gzip },
  { rare: Buffer.from("H4sI"), before: 0, ...base64, ...gzip },
  ...["1f8b08", "1F8B08"].map((head): Beginning => ({ rare: Buffer.from(head), before: 0, ...hex, ...gzip })),
  ...[0x01, 0x5e, 0x9c, 0xda].map((level): Beginning => ({
    rare: Buffer.from([0x78, level]),
    before: 0,
    ...bare,
    ...zlib,
  })),
  ...["J", "N", "A", "F"].map((letter): Beginning => ({ rare: Buffer.from(letter), before: 1, ...base64, ...zlib })),
  ...["7801", "785e", "785E", "789c", "789C", "78da", "78DA"].map((head): Beginning => ({
    rare: Buffer.from(head),
    before: 0,
    ...hex,
    ...zlib,
  })),
  { rare: Buffer.from("PK\x03\x04"), before: 0, ...bare, ...zip },
  { rare: Buffer.from("UEsDB"), before: 0, ...base64, ...zip },
];
/** What comes before the head of zlib is no part of something longer, and in base64 its second character goes on so. */
const AFTER_ZLIB: Readonly<Record<string, RegExp>> = { J: /^eJ[w-z]/, N: /^eN[o-r]/, A: /^eA[EF]/, F: /^eF[4-7]/ };

/**
 * Looks into what was packed before it was sent, or before it was encoded: `gzip | base64`. A finding is all of the packed text, which cannot be changed in parts.
 *
 * SECURITY: a value does not leave because a program packed it first (G-193)
 */
export function scanPacked(scanner: ByteScanner, bytes: Uint8Array, report: (match: Match) => void): void {
  if (bytes.length < SHORTEST) return;
  const original = new Layer(bytes, []);
  for (const { piece, unpacked, view } of packedTexts(bytes)) {
    const starts = new Int32Array(unpacked.length).fill(piece.start);
    const ends = new Int32Array(unpacked.length).fill(piece.end);
    const layer = new Layer(unpacked, view, { parent: original, starts, ends });
    scanner.scan(unpacked, 0, unpacked.length, (match) => {
      report({ ...match, view: [...view, ...match.view], pieces: layer.toOriginal(match.pieces) });
    });
  }
}

function packedTexts(bytes: Uint8Array): Packed[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Packed[] = [];
  let tried = 0;
  for (const beginning of BEGINNINGS) {
    const { rare, before, view } = beginning;
    for (
      let at = buffer.indexOf(rare);
      at >= 0 && found.length < MAX_PACKED && tried < MAX_TRIED;
      at = buffer.indexOf(rare, at + 1)
    ) {
      const start = at - before;
      if (start < 0 || !mayBegin(buffer, start, rare)) continue;
      const end = beginning.end(buffer, start);
      tried += end - start;
      const unpacked = end - start < SHORTEST ? undefined : unpack(beginning, buffer.subarray(start, end));
      if (unpacked) found.push({ piece: { start, end }, unpacked, view });
    }
  }
  return found;
}

/** The seven of `789c`; the three bytes of other heads begin with others. */
const HEX_OF_ZLIB = 0x37;
/** The `n` of a `\\n` is no part of what follows. */
const isAfterBreak = (bytes: Buffer, at: number): boolean =>
  bytes[at - 2] === 0x5c && (bytes[at - 1] === 0x6e || bytes[at - 1] === 0x72);

/** Two characters alone are in many words: those of zlib begin a text. */
function mayBegin(bytes: Buffer, start: number, rare: Buffer): boolean {
  const pattern = AFTER_ZLIB[rare.toString("latin1")];
  if (!pattern && rare[0] !== HEX_OF_ZLIB) return true;
  if (start > 0 && /[\w+/]/.test(String.fromCharCode(bytes[start - 1] ?? 0)) && !isAfterBreak(bytes, start))
    return false;
  return !pattern || pattern.test(bytes.toString("latin1", start, start + 3));
}

/** As much as can be read, whatever its checksum says or comes after it. Nothing of what is no packed text. */
function unpack({ read, head }: Beginning, text: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  let packed = read(text);
  try {
    for (let size = head(packed); size !== undefined && parts.length < MAX_PACKED; size = gzipHead(packed)) {
      const body = packed.subarray(size);
      const { buffer, engine } = inflate(body);
      parts.push(buffer);
      packed = body.subarray(engine.bytesWritten + GZIP_TAIL);
    }
  } catch {
    // what was read before it goes
  }
  return parts.length > 0 ? Buffer.concat(parts) : undefined;
}

interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** With `info` it tells how much it has read; the types do not know that. */
const inflate = (packed: Buffer): Inflated =>
  inflateRawSync(packed, {
    info: true,
    finishFlush: constants.Z_SYNC_FLUSH,
    maxOutputLength: MAX_BYTES,
  }) as unknown as Inflated;

const ZIP_HEAD = 30;
const DEFLATED = 8;

/** Of a file in a zip archive: its name and more come before what was packed. */
function zipHead(packed: Buffer): number | undefined {
  if (packed.length < ZIP_HEAD || packed.readUInt16LE(8) !== DEFLATED) return undefined;
  return ZIP_HEAD + packed.readUInt16LE(26) + packed.readUInt16LE(28);
}

const GZIP_HEAD = 10;
/** A checksum and a length. */
const GZIP_TAIL = 8;
const FLAGS = { hasChecksum: 2, hasExtra: 4, hasName: 8, hasComment: 16 } as const;

function gzipHead(packed: Buffer): number | undefined {
  if (packed.length < GZIP_HEAD || packed[0] !== 0x1f || packed[1] !== 0x8b) return undefined;
  const flags = packed[3] ?? 0;
  let size = GZIP_HEAD;
  if (flags & FLAGS.hasExtra) size += 2 + (packed[size] ?? 0) + 256 * (packed[size + 1] ?? 0);
  for (const flag of [FLAGS.hasName, FLAGS.hasComment])
    if (flags & flag) size = packed.indexOf(0, size) + 1 || packed.length;
  return size + (flags & FLAGS.hasChecksum ? 2 : 0);
}
