/** Work on one workspace that must not overlap: reset, fork, snapshot, stop, start, delete. A later call waits. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(workspaceId);
    const own = (async () => {
      await before?.catch(() => undefined); // its own caller is told
      return await work();
    })();
    this.#last.set(workspaceId, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(workspaceId) === own) this.#last.delete(workspaceId);
    }
  }
}
