/** Work on one thing that must not overlap, such as reset, fork, snapshot, stop, start and delete of a workspace. A later call waits. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const own = (async () => {
      await before?.catch(() => undefined); // its own caller is told
      return await work();
    })();
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }
}
