import type { ScanMemory } from "./detector.ts";
import type { Finding } from "./finding.ts";

/** Bytes that are kept of each place, and how many places. */
export const TAIL_BYTES = 512;
const MAX_PLACES = 32;

/** The ends of what went out before, by place. A value that is cut into consecutive requests is whole in an end and what comes next. */
export class TailMemory implements ScanMemory {
  readonly #tails = new Map<string, Buffer>();

  get size(): number {
    return [...this.#tails.values()].reduce((sum, tail) => sum + tail.length, 0);
  }

  /** Puts the next bytes behind those that are known of the place. Answers with both, or undefined when there is nothing to put together. */
  extend(place: string, bytes: Uint8Array): Extended | undefined {
    const extended = this.look(place, bytes);
    this.remember(place, bytes);
    return extended;
  }

  /** The same, of bytes to which more may come: they are not remembered yet. */
  look(place: string, bytes: Uint8Array): Extended | undefined {
    const tail = this.#tails.get(place);
    if (tail === undefined || isSame(tail, bytes)) return undefined;
    return { text: Buffer.concat([tail, bytes.subarray(0, TAIL_BYTES)]), border: tail.length };
  }

  /** Puts them behind those that are known of the place. */
  remember(place: string, bytes: Uint8Array): void {
    const tail = this.#tails.get(place);
    this.#tails.delete(place);
    const isEnough = tail === undefined || isSame(tail, bytes) || bytes.length >= TAIL_BYTES;
    // A copy in any case: the bytes are somebody else's.
    const next = Buffer.concat(isEnough ? [bytes.subarray(-TAIL_BYTES)] : [tail, bytes]);
    this.#tails.set(place, next.length > TAIL_BYTES ? Buffer.from(next.subarray(-TAIL_BYTES)) : next);
    const [oldest] = this.#tails.keys();
    if (this.#tails.size > MAX_PLACES && oldest !== undefined) this.#tails.delete(oldest);
  }

  forget(place: string): void {
    this.#tails.delete(place);
  }
}

/** A program that says the same each time cuts nothing up. */
const isSame = (tail: Buffer, bytes: Uint8Array): boolean =>
  tail.length >= bytes.length && tail.subarray(-bytes.length).equals(bytes);

export interface Extended {
  readonly text: Buffer;
  /** Where the new bytes begin. */
  readonly border: number;
}

/** A memory, and who scans what it puts together. */
export interface MemoryOf {
  bytes(place: string, bytes: Uint8Array): Finding[];
  /** Of bytes to which more may come: they are not remembered yet. */
  look(place: string, bytes: Uint8Array): Finding[];
  remember(place: string, bytes: Uint8Array): void;
}
