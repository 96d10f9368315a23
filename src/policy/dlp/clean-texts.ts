/** A longer one is not kept. */
const MAX_LENGTH = 4096;

/** Texts in which nothing was found, so that they are not looked at again. Bounded: when it is full it begins anew. */
export class CleanTexts {
  readonly #most: number;
  readonly #texts = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length > MAX_LENGTH) return;
    if (this.#texts.size >= this.#most) this.#texts.clear();
    this.#texts.add(text);
  }
}
