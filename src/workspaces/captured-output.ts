/**
 * What is kept of a stream: its first and its last bytes, and how much lay between. Memory is bounded by the cap, whatever a command prints.
 */
export class CapturedOutput {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(capBytes: number) {
    this.#half = Math.floor(capBytes / 2);
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#half - this.#headBytes;
    const first = chunk.subarray(0, room);
    if (first.length > 0) {
      this.#head.push(Buffer.from(first)); // a copy: the chunk may be a view on a large receive buffer
      this.#headBytes += first.length;
    }
    // Of a huge chunk only the end can survive.
    const rest = chunk.subarray(Math.max(first.length, chunk.length - this.#half));
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest));
    this.#tailBytes += rest.length;
    if (this.#tailBytes > 4 * this.#half + 65_536) this.#trim();
  }

  get truncated(): boolean {
    return this.#total > this.#headBytes + Math.min(this.#half, this.#total - this.#headBytes);
  }

  get totalBytes(): number {
    return this.#total;
  }

  text(): string {
    this.#trim();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const left = this.#total - head.length - tail.length;
    if (left === 0) return Buffer.concat([head, tail]).toString("utf8");
    return `${head.toString("utf8")}\n[… ${left} bytes left out …]\n${tail.toString("utf8")}`;
  }

  #trim(): void {
    const all = Buffer.concat(this.#tail);
    this.#tail = [Buffer.from(all.subarray(Math.max(0, all.length - this.#half)))];
    this.#tailBytes = this.#tail[0]?.length ?? 0;
  }
}
