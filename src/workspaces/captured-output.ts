import type { ByteBudget } from "../base/byte-budget.ts";
import { fitJson, jsonBytes } from "../base/json-bytes.ts";

/** So much is kept of every stream, even when the shared budget is used up. */
const FREE_BYTES = 4 * 1024;

/**
 * What is kept of a stream: its first and its last bytes, and how much lay between. Memory is bounded by the cap, whatever a command prints, and by a budget
 * that commands share: one that finds it empty keeps less.
 */
export class CapturedOutput {
  readonly #budget: ByteBudget | undefined;
  #headCap: number;
  #tailCap: number;
  #taken = 0;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(capBytes: number, budget?: ByteBudget) {
    this.#headCap = Math.floor(capBytes / 2);
    this.#tailCap = this.#headCap;
    this.#budget = budget;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const first = chunk.subarray(0, this.#roomInHead(Math.min(chunk.length, this.#headCap - this.#headBytes)));
    if (first.length > 0) {
      this.#head.push(Buffer.from(first)); // a copy: the chunk may be a view on a large receive buffer
      this.#headBytes += first.length;
    }
    // Of a huge chunk only the end can survive.
    const rest = chunk.subarray(Math.max(first.length, chunk.length - this.#tailCap));
    if (rest.length === 0) return;
    this.#fitTail(rest.length);
    const kept = rest.subarray(Math.max(0, rest.length - this.#tailCap));
    this.#tail.push(Buffer.from(kept));
    this.#tailBytes += kept.length;
    if (this.#tail.length > MAX_PIECES) this.#trim();
    for (let [oldest] = this.#tail; oldest && this.#tailBytes - oldest.length >= this.#tailCap; [oldest] = this.#tail) {
      this.#tail.shift();
      this.#tailBytes -= oldest.length;
    }
  }

  get totalBytes(): number {
    return this.#total;
  }

  /** With at most so many bytes in JSON. */
  text(mostJson = Infinity): { text: string; truncated: boolean } {
    this.#trim();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const left = this.#total - head.length - tail.length;
    if (left === 0) {
      const whole = Buffer.concat([head, tail]).toString("utf8");
      if (jsonBytes(whole) <= mostJson) return { text: whole, truncated: false };
    }
    const first = fitJson(head.toString("utf8"), mostJson / 2);
    const last = fitJson(tail.toString("utf8"), mostJson / 2, true);
    const missing = this.#total - Buffer.byteLength(first) - Buffer.byteLength(last);
    return { text: `${first}\n[… ${missing} bytes left out …]\n${last}`, truncated: true };
  }

  /** Gives back what it took of the budget; it must not be used any more. */
  release(): void {
    this.#budget?.give(this.#taken);
    this.#taken = 0;
    this.#head.length = 0;
    this.#tail = [];
  }

  /** How much of the next bytes the head takes. It is full for good when the budget has no more. */
  #roomInHead(wanted: number): number {
    if (wanted <= 0 || this.#covers(this.#headBytes + wanted, this.#tailBytes)) return Math.max(0, wanted);
    this.#headCap = this.#headBytes;
    return 0;
  }

  /** Makes room for so many more at the end; where there is none the end stays as long as it is. */
  #fitTail(more: number): void {
    const wanted = Math.min(this.#tailCap, this.#tailBytes + more);
    if (this.#covers(this.#headBytes, wanted)) return;
    this.#tailCap = Math.max(Math.min(this.#tailCap, FREE_BYTES / 2), Math.floor(this.#tailBytes / 2));
    this.#trim();
  }

  #covers(head: number, tail: number): boolean {
    if (!this.#budget) return true;
    const more = Math.max(0, head + tail - FREE_BYTES) - this.#taken;
    if (more <= 0) return true;
    // In steps, because commands print in small pieces.
    const step = Math.max(more, STEP_BYTES);
    // SECURITY: what all commands of all sandboxes print is bounded together (G-25)
    if (!this.#budget.take(step)) return false;
    this.#taken += step;
    return true;
  }

  #trim(): void {
    const all = Buffer.concat(this.#tail);
    this.#tail = [Buffer.from(all.subarray(Math.max(0, all.length - this.#tailCap)))];
    this.#tailBytes = this.#tail[0]?.length ?? 0;
  }
}

const STEP_BYTES = 32 * 1024;
/** Each costs more than its bytes when they are few. */
const MAX_PIECES = 4096;
