import type { Redactor } from "../../policy/redactor.ts";
import { heldBytes, redactedRange, secretSpans } from "./redacted-range.ts";

/**
 * Takes secrets out of a terminal's output while it comes. Unlike a stream of the redactor it does not hold back the first letters of a
 * value, because a person who types wants to see them; what it has shown it remembers, so that the rest of that value is taken out.
 */
export class LiveRedaction {
  readonly #redactor: Redactor;
  /** The last bytes, of which the first `#shown` were given away. */
  #tail: Buffer = Buffer.alloc(0);
  #shown = 0;
  #cutStart: boolean;

  /** `cutStart`: the first bytes may be the rest of a value whose beginning is lost. */
  constructor(redactor: Redactor, cutStart: boolean) {
    this.#redactor = redactor;
    this.#cutStart = cutStart;
  }

  push(chunk: Buffer): Buffer {
    return this.#redactor.isEmpty ? chunk : this.#advance(chunk, false);
  }

  /** What was held back, when no more comes. */
  end(): Buffer {
    return this.#advance(Buffer.alloc(0), true);
  }

  #advance(chunk: Buffer, ended: boolean): Buffer {
    const bytes = Buffer.concat([this.#tail, chunk]);
    const held = ended ? 0 : heldBytes(this.#redactor, bytes);
    const to = Math.max(this.#shown, bytes.length - held);
    const out = redactedRange(bytes, secretSpans(this.#redactor, bytes, this.#cutStart), this.#shown, to);
    const drop = Math.max(0, Math.min(to, bytes.length - this.#redactor.reach));
    this.#tail = Buffer.from(bytes.subarray(drop));
    this.#shown = to - drop;
    if (drop > 0) this.#cutStart = false;
    return out;
  }
}
