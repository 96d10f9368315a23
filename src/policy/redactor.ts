import { NeedleAutomaton } from "./needle-automaton.ts";

/**
 * Takes the values of secrets out of what leaves a sandbox. Bytes, so that a value is found wherever chunks are cut. It guards against accidents: a
 * command that wants to can always print a secret in a form that nobody recognises. Its time grows with the bytes, and not with the values.
 */
export const REDACTED = "[REDACTED]";

const MARK = Buffer.from(REDACTED);
/** A shorter value would be found in everything, and each mark is longer than what it stands for. */
const MIN_NEEDLE_BYTES = 4;
/** Lines of a value of several lines are secrets of their own from this length on: a tool may print one of them. */
const MIN_LINE_BYTES = 8;

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface RedactingStream {
  /** What of the stream so far can be shown: an end that may be the beginning of a value is held back. */
  push(chunk: Buffer): Buffer;
  /** The rest, when no more comes. */
  end(): Buffer;
}

export class Redactor {
  readonly #needles: readonly Buffer[];
  /** Bytes of the longest value: how much context a reader needs on both sides of a cut. */
  readonly reach: number;
  // Weak: what looks for many values is large, and quickly made again.
  #forward: WeakRef<NeedleAutomaton> | undefined;
  #backward: WeakRef<NeedleAutomaton> | undefined;

  constructor(values: readonly string[]) {
    this.#needles = [...new Set(values.flatMap(formsOf))]
      .map((form) => Buffer.from(form))
      // SECURITY: an empty needle is found everywhere and for ever, and a short one multiplies what it is found in (G-17)
      .filter((needle) => needle.length >= MIN_NEEDLE_BYTES);
    this.reach = this.#needles.reduce((longest, { length }) => Math.max(longest, length), 0);
  }

  get isEmpty(): boolean {
    return this.#needles.length === 0;
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
    return this.isEmpty ? PASSING : new StreamRedaction(this.#automaton);
  }

  /** Where values are, in order; those that overlap are one. */
  find(bytes: Buffer): Span[] {
    if (this.isEmpty) return [];
    const automaton = this.#automaton;
    const spans: Span[] = [];
    let state = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (state === 0 && (at = automaton.skip(bytes, at)) === bytes.length) break;
      state = automaton.next(state, bytes[at] ?? 0);
      const length = automaton.matched(state);
      if (length > 0) addSpan(spans, at + 1 - length, at + 1);
    }
    return spans;
  }

  /** How many bytes at the end may be the beginning of a value that goes on in what comes next. */
  openEnd(bytes: Buffer): number {
    if (this.isEmpty) return 0;
    const automaton = this.#automaton;
    let state = 0;
    for (let at = Math.max(0, bytes.length - this.reach); at < bytes.length; at++) {
      state = automaton.next(state, bytes[at] ?? 0);
    }
    return automaton.open(state);
  }

  /** How many bytes at the start may be the rest of a value that began in what is lost. */
  openStart(bytes: Buffer): number {
    if (this.isEmpty) return 0;
    let automaton = this.#backward?.deref();
    if (!automaton) {
      automaton = new NeedleAutomaton(this.#needles.map((needle) => needle.toReversed()));
      this.#backward = new WeakRef(automaton);
    }
    let state = 0;
    for (let at = Math.min(bytes.length, this.reach) - 1; at >= 0; at--) state = automaton.next(state, bytes[at] ?? 0);
    return automaton.open(state);
  }

  /** Made when it is first needed: most workspaces print little. */
  get #automaton(): NeedleAutomaton {
    const known = this.#forward?.deref();
    if (known) return known;
    const made = new NeedleAutomaton(this.#needles);
    this.#forward = new WeakRef(made);
    return made;
  }
}

const PASSING: RedactingStream = { push: (chunk) => chunk, end: () => Buffer.alloc(0) };

/**
 * The same as `bytes` for any cut. Positions count from the start of the stream. A mark is shown as soon as nothing that still comes can make its value begin
 * earlier, so what is held back is never longer than a value.
 */
class StreamRedaction implements RedactingStream {
  readonly #automaton: NeedleAutomaton;
  #state = 0;
  #held: Buffer = Buffer.alloc(0);
  #at = 0;
  /** What is before that was shown, or is what a mark stands for. */
  #shownTo = 0;
  /** Found, and not shown yet. */
  #spans: Span[] = [];

  constructor(automaton: NeedleAutomaton) {
    this.#automaton = automaton;
  }

  push(chunk: Buffer): Buffer {
    const automaton = this.#automaton;
    let state = this.#state;
    for (let index = 0; index < chunk.length; index++) {
      if (state === 0 && (index = automaton.skip(chunk, index)) === chunk.length) break;
      state = automaton.next(state, chunk[index] ?? 0);
      const length = automaton.matched(state);
      if (length > 0) addSpan(this.#spans, this.#at + index + 1 - length, this.#at + index + 1);
    }
    this.#state = state;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#at += chunk.length;
    return this.#show(bytes, this.#at - automaton.open(state));
  }

  end(): Buffer {
    return this.#show(this.#held, this.#at);
  }

  /** `bytes` end where the stream is. What comes later begins no value before `safe`. */
  #show(bytes: Buffer, safe: number): Buffer {
    const from = this.#at - bytes.length;
    const parts: Buffer[] = [];
    let spans = 0;
    for (const { start, end } of this.#spans) {
      if (start > safe) break;
      spans++;
      // What overlaps a value that has its mark belongs to that one.
      if (start >= this.#shownTo) parts.push(bytes.subarray(this.#shownTo - from, start - from), MARK);
      this.#shownTo = Math.max(this.#shownTo, end);
    }
    this.#spans = this.#spans.slice(spans);
    if (safe > this.#shownTo) {
      parts.push(bytes.subarray(this.#shownTo - from, safe - from));
      this.#shownTo = safe;
    }
    this.#held = Buffer.from(bytes.subarray(Math.min(bytes.length, this.#shownTo - from)));
    return Buffer.concat(parts);
  }
}

/** They come by their ends; one that is longer may begin before those that are there. */
function addSpan(spans: Span[], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last && last.end > from; last = spans.at(-1)) {
    from = Math.min(from, last.start);
    spans.pop();
  }
  spans.push({ start: from, end });
}

/** How much there is to look for: a value of several lines counts as often as it has forms. */
export const needleBytes = (value: string): number =>
  formsOf(value).reduce((sum, form) => sum + Buffer.byteLength(form), 0);

/** A value as a terminal shows it, and its lines. */
function formsOf(value: string): string[] {
  if (!value.includes("\n")) return [value];
  const lines = value.split(/\r?\n/).filter((line) => Buffer.byteLength(line) >= MIN_LINE_BYTES);
  return [value, value.replaceAll(/\r?\n/g, "\r\n"), ...lines];
}
