interface Waiting {
  begin(layers: string[]): Promise<void>;
  refuse(error: unknown): void;
}

/** Copies what a workspace is now, and lets `keep` work with that before it can go. */
type Copy = (workspaceId: string, keep: (layers: string[]) => Promise<void>) => Promise<void>;

/**
 * What is asked for of a workspace as it is now, while another copy of it is still being made, begins with one next copy for all: none is older than its
 * call. Ten forks at once copy twice, not ten times, and start side by side.
 */
export class SharedCopies {
  readonly #copy: Copy;
  readonly #waiting = new Map<string, Waiting[]>();

  /** `copy` waits for the turn of the workspace, and calls `begun` when it has it. */
  constructor(
    copy: (workspaceId: string, begun: () => void, keep: (layers: string[]) => Promise<void>) => Promise<void>,
  ) {
    this.#copy = (workspaceId, keep) => copy(workspaceId, () => this.#waiting.delete(workspaceId), keep);
  }

  /** One that fails leaves the others alone. */
  async share<Result>(workspaceId: string, use: (layers: string[]) => Promise<Result>): Promise<Result> {
    return await new Promise<Result>((resolve, reject) => {
      const own: Waiting = { begin: (layers) => use(layers).then(resolve, reject), refuse: reject };
      const waiting = this.#waiting.get(workspaceId);
      if (waiting) {
        waiting.push(own);
        return;
      }
      const all = [own];
      this.#waiting.set(workspaceId, all);
      const begin = async (layers: string[]) => {
        await Promise.all(all.map((one) => one.begin(layers)));
      };
      this.#copy(workspaceId, begin).catch((error: unknown) => {
        this.#waiting.delete(workspaceId);
        for (const one of all) one.refuse(error);
      });
    });
  }
}
