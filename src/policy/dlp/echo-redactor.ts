import { NeedleAutomaton } from "../needle-automaton.ts";
import { base64Forms } from "./encodings.ts";
import type { Piece } from "./layer.ts";
import { mask } from "./mask.ts";

/** A shorter value would be found in everything. */
const LEAST = 6;

/**
 * Takes injected credentials out of what comes back. It looks for the forms in which a server would repeat one: as it is, as JSON, a URL or HTML has it, in base64 and in
 * hex. An answer is read while it comes, so only what may be the beginning of one is held back, and every length stays.
 */
export class EchoRedactor {
  readonly #automaton: NeedleAutomaton;
  readonly isEmpty: boolean;

  constructor(values: readonly string[]) {
    const forms = values.filter((value) => value.length >= LEAST).flatMap(formsOf);
    this.isEmpty = forms.length === 0;
    this.#automaton = new NeedleAutomaton(forms);
  }

  stream(): EchoStream {
    return new EchoStream(this.#automaton);
  }

  /** A whole text, such as a header of an answer. */
  text(text: string): string {
    if (this.isEmpty) return text;
    const stream = this.stream();
    return Buffer.concat([stream.push(Buffer.from(text)), stream.end()]).toString();
  }
}

function formsOf(value: string): Uint8Array[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const json = JSON.stringify(value).slice(1, -1);
  const html = value.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const texts = new Set([
    value,
    json,
    json.replaceAll("/", "\\/"),
    encodeURIComponent(value),
    html,
    hex,
    hex.toUpperCase(),
  ]);
  return [...[...texts].map((text) => Buffer.from(text)), ...base64Forms(bytes), ...base64Forms(bytes, true)];
}

/** One answer. */
export class EchoStream {
  readonly #automaton: NeedleAutomaton;
  #state = 0;
  #held: Buffer = Buffer.alloc(0);
  /** How many were taken out. */
  count = 0;

  constructor(automaton: NeedleAutomaton) {
    this.#automaton = automaton;
  }

  /** What may go on now: as many bytes in the end as came in. */
  push(chunk: Uint8Array): Buffer {
    const found: Piece[] = [];
    const before = this.#held.length;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#state === 0 && (at = this.#automaton.skip(chunk, at)) === chunk.length) break;
      this.#state = this.#automaton.next(this.#state, chunk[at] ?? 0);
      const length = this.#automaton.matched(this.#state);
      if (length > 0) found.push({ start: Math.max(0, before + at + 1 - length), end: before + at + 1 });
    }
    // A copy in any case: the chunk is somebody else's.
    const bytes = Buffer.concat([this.#held, chunk]);
    mask(bytes, found);
    this.count += found.length;
    const safe = Math.max(0, bytes.length - this.#automaton.open(this.#state));
    this.#held = bytes.subarray(safe);
    return bytes.subarray(0, safe);
  }

  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}
