import { REDACTED, type Redactor } from "../../policy/redactor.ts";
import type { RingBytes } from "./read-ring.ts";
import { heldBytes, redactedRange, secretSpans, type Span } from "./redacted-range.ts";

export interface WindowRequest {
  readonly cursor: number;
  /** UTF-16 units, as JavaScript and JSON count; at least one character is always given. */
  readonly maxChars: number;
  /** Whether more may come: then an end that is not complete waits for it. */
  readonly running: boolean;
}

/** The part of the output that one read gives, without secrets. */
export interface ShellWindow {
  readonly cursor: number;
  readonly nextCursor: number;
  /** What came before `cursor`, as far as it is still there: a terminal needs it to show what follows. */
  readonly before: Buffer;
  readonly shown: Buffer;
  /** Whether bytes from the asked cursor on are lost. */
  readonly lost: boolean;
  /** Whether there was more than `maxChars`. */
  readonly cut: boolean;
}

export function shellWindow(ring: RingBytes, redactor: Redactor, request: WindowRequest): ShellWindow {
  const { start, bytes } = ring;
  const lost = request.cursor < start;
  const from = lost ? orphanBytes(bytes) : Math.min(request.cursor - start, bytes.length);
  const spans = secretSpans(redactor, bytes, start > 0);
  const to = Math.max(from, request.running ? completeEnd(redactor, bytes) : bytes.length);
  const end = endOfChars(bytes, spans, { from, to, maxChars: request.maxChars });
  return {
    cursor: lost ? start + from : request.cursor,
    nextCursor: Math.max(start + end, request.cursor),
    before: redactedRange(bytes, spans, 0, from),
    shown: redactedRange(bytes, spans, from, end),
    lost,
    cut: end < to,
  };
}

/** Without what may be the beginning of a secret or of a character. */
function completeEnd(redactor: Redactor, bytes: Buffer): number {
  const end = bytes.length - heldBytes(redactor, bytes);
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0;
    if (isContinuation(byte)) continue;
    return sequenceBytes(byte) > back ? end - back : end;
  }
  return end;
}

/** Bytes at the start that belong to a character whose beginning is lost. */
function orphanBytes(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count] ?? 0)) count++;
  return count;
}

function endOfChars(
  bytes: Buffer,
  spans: readonly Span[],
  { from, to, maxChars }: { from: number; to: number; maxChars: number },
): number {
  let at = from;
  let chars = 0;
  let next = 0;
  while (at < to) {
    while ((spans[next]?.end ?? Infinity) <= at) next++;
    const span = spans[next];
    const inSpan = span !== undefined && span.start <= at;
    const length = inSpan ? span.end - at : characterBytes(bytes, at);
    const width = inSpan ? REDACTED.length : length === 4 ? 2 : 1;
    if (chars > 0 && chars + width > maxChars) break;
    chars += width;
    at = Math.min(at + length, to);
  }
  return at;
}

/** 1 for a byte that begins no character. */
function characterBytes(bytes: Buffer, at: number): number {
  const length = sequenceBytes(bytes[at] ?? 0);
  for (let index = 1; index < length; index++) if (!isContinuation(bytes[at + index] ?? 0)) return 1;
  return length;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

function sequenceBytes(first: number): number {
  if (first >= 0xf0 && first < 0xf8) return 4;
  if (first >= 0xe0) return first < 0xf0 ? 3 : 1;
  return first >= 0xc2 ? 2 : 1;
}
