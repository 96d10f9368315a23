/** Calls that have begun. The end of a server waits until each has tidied up. */
export class CallsUnderWay {
  readonly #running = new Set<Promise<unknown>>();

  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}
