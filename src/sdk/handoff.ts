import { deferred } from "./deferred.ts";

/** Hands values from a producer to a consumer, one at a time: the producer waits until its value was taken. */
export class Handoff<Item> {
  #offered: { item: Item; taken: () => void } | undefined;
  #ended = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;

  /** Resolves when it was taken, or nobody takes any more. */
  async put(item: Item): Promise<void> {
    if (this.#ended) return;
    const taken = deferred<undefined>();
    this.#offered = { item, taken: () => taken.resolve(undefined) };
    this.#wake();
    await taken.promise;
  }

  /** What was put before is still to be taken; then comes the error, if there is one. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  /** Drops what was put and what is put later. A reader gets the error, if there is one. */
  drop(error?: Error): void {
    if (!this.#ended) this.#error = error;
    this.#ended = true;
    this.#offered?.taken();
    this.#offered = undefined;
    this.#wake();
  }

  /** Undefined at the end. */
  async take(): Promise<Item | undefined> {
    while (this.#offered === undefined) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const { item, taken } = this.#offered;
    this.#offered = undefined;
    taken();
    return item;
  }
}
