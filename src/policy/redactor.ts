/**
 * Takes the values of secrets out of what leaves a sandbox. Bytes, so that a value is found wherever chunks are cut. It guards against accidents: a
 * command that wants to can always print a secret in a form that nobody recognises.
 */
export const REDACTED = "[REDACTED]";

const MARK = Buffer.from(REDACTED);
/** Lines of a value of several lines are secrets of their own from this length on: a tool may print one of them. */
const MIN_LINE_BYTES = 8;

export interface RedactingStream {
  /** What of the stream so far can be shown: an end that may be the beginning of a value is held back. */
  push(chunk: Buffer): Buffer;
  /** The rest, when no more comes. */
  end(): Buffer;
}

export class Redactor {
  /** Longest first, so that a value that contains another is found whole. */
  readonly #needles: readonly Buffer[];

  constructor(values: readonly string[]) {
    this.#needles = [...new Set(values.flatMap(formsOf))]
      .map((form) => Buffer.from(form))
      .sort((a, b) => b.length - a.length);
  }

  get isEmpty(): boolean {
    return this.#needles.length === 0;
  }

  /** Bytes of the longest value: how much context a reader needs on both sides of a cut. */
  get reach(): number {
    return this.#needles[0]?.length ?? 0;
  }

  text(text: string): string {
    return this.isEmpty ? text : this.bytes(Buffer.from(text)).toString();
  }

  bytes(bytes: Buffer): Buffer {
    const found = this.find(bytes);
    if (found.length === 0) return bytes;
    const parts: Buffer[] = [];
    let at = 0;
    for (const { start, end } of found) {
      parts.push(bytes.subarray(at, start), MARK);
      at = end;
    }
    return Buffer.concat([...parts, bytes.subarray(at)]);
  }

  /** The first `length` bytes, redacted; a value that begins in them and goes on in the rest is taken out whole. */
  start(bytes: Buffer, length: number): Buffer {
    const cut = this.find(bytes).find(({ start, end }) => start < length && end > length);
    return cut
      ? Buffer.concat([this.bytes(bytes.subarray(0, cut.start)), MARK])
      : this.bytes(bytes.subarray(0, length));
  }

  stream(): RedactingStream {
    let held: Buffer = Buffer.alloc(0);
    return {
      push: (chunk) => {
        if (this.isEmpty) return chunk;
        const all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
        const open = this.openEnd(all);
        held = Buffer.from(all.subarray(all.length - open));
        return this.bytes(all.subarray(0, all.length - open));
      },
      end: () => {
        const rest = this.bytes(held);
        held = Buffer.alloc(0);
        return rest;
      },
    };
  }

  /** Where values are, in order, without overlap. */
  find(bytes: Buffer): { start: number; end: number }[] {
    const spans = this.#needles
      .flatMap((needle) => occurrences(bytes, needle))
      .sort((a, b) => a.start - b.start || b.end - a.end);
    const merged: { start: number; end: number }[] = [];
    for (const span of spans) {
      const last = merged.at(-1);
      if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
      else merged.push({ ...span });
    }
    return merged;
  }

  /** How many bytes at the end may be the beginning of a value that goes on in what comes next; none of a value that is complete. */
  openEnd(bytes: Buffer): number {
    const complete = this.find(bytes).at(-1)?.end ?? 0;
    for (let length = Math.min(this.reach - 1, bytes.length); length > 0; length--) {
      const end = bytes.subarray(bytes.length - length);
      if (bytes.length - length < complete && complete === bytes.length) continue;
      if (this.#needles.some((needle) => needle.length > length && needle.subarray(0, length).equals(end)))
        return length;
    }
    return 0;
  }

  /** How many bytes at the start may be the rest of a value that began in what is lost. */
  openStart(bytes: Buffer): number {
    for (let length = Math.min(this.reach - 1, bytes.length); length > 0; length--) {
      const start = bytes.subarray(0, length);
      if (
        this.#needles.some((needle) => needle.length > length && needle.subarray(needle.length - length).equals(start))
      )
        return length;
    }
    return 0;
  }
}

/** A value as a terminal shows it, and its lines. */
function formsOf(value: string): string[] {
  if (!value.includes("\n")) return [value];
  const lines = value.split(/\r?\n/).filter((line) => Buffer.byteLength(line) >= MIN_LINE_BYTES);
  return [value, value.replaceAll(/\r?\n/g, "\r\n"), ...lines];
}

function occurrences(bytes: Buffer, needle: Buffer): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1))
    spans.push({ start: at, end: at + needle.length });
  return spans;
}
