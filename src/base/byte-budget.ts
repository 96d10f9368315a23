/** How many bytes several holders may have together. A budget that is part of another one takes from that one too. */
export class ByteBudget {
  readonly #most: number;
  readonly #whole: ByteBudget | undefined;
  #taken = 0;

  constructor(most: number, whole?: ByteBudget) {
    this.#most = most;
    this.#whole = whole;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False, and nothing is taken, when there is not so much left. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most || this.#whole?.take(bytes) === false) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
    this.#whole?.give(bytes);
  }
}
