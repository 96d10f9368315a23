import { REDACTED, type Redactor } from "../../policy/redactor.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A shorter beginning of a value is shown: it says little, and a prompt must not wait for what never comes. */
const MIN_HELD_BYTES = 4;
const MARK = Buffer.from(REDACTED);

/** Where values are in `bytes`. With `cutStart`, what came before is lost, and the bytes may start with the rest of a value. */
export function secretSpans(redactor: Redactor, bytes: Buffer, cutStart: boolean): readonly Span[] {
  if (redactor.isEmpty) return [];
  const spans = redactor.find(bytes);
  const rest = cutStart ? redactor.openStart(bytes) : 0;
  if (rest < MIN_HELD_BYTES) return spans;
  return [{ start: 0, end: rest }, ...spans.filter(({ end }) => end > rest)];
}

/** How many bytes at the end wait for what comes next, because they may be the beginning of a value. */
export function heldBytes(redactor: Redactor, bytes: Buffer): number {
  if (redactor.isEmpty) return 0;
  const open = redactor.openEnd(bytes);
  return open >= MIN_HELD_BYTES ? open : 0;
}

/** The bytes from `from` to `to`, with a mark for each value that is in there, if only in part. */
export function redactedRange(bytes: Buffer, spans: readonly Span[], from: number, to: number): Buffer {
  const parts: Buffer[] = [];
  let at = from;
  for (const { start, end } of spans) {
    if (end <= at || start >= to) continue;
    parts.push(bytes.subarray(at, Math.max(at, start)), MARK);
    at = Math.min(end, to);
  }
  return Buffer.concat([...parts, bytes.subarray(at, to)]);
}
