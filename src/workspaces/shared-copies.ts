interface Waiting {
  begin(layers: string[]): Promise<void>;
  refuse(error: unknown): void;
}

/** Those that begin with one copy. */
interface Batch {
  readonly members: Waiting[];
  readonly stop: AbortController;
  /** When its copy began; undefined while it waits for the workspace's turn. */
  begunAt: number | undefined;
  isCopied: boolean;
}

export interface CopyOptions {
  readonly signal: AbortSignal;
  /** To be called when the workspace's turn has come. */
  readonly begun: () => void;
  /** Works with the copy before it can go. */
  readonly keep: (layers: string[]) => Promise<void>;
}

/** A copy that is younger than that is begun again when one more is asked for: calls of one moment are heard one after the other. */
const YOUNG_MS = 50;

/**
 * What is asked for of a workspace as it is now, while another copy of it is waited for, begins with the same copy: none is older than its call. So ten
 * forks at once copy once, not ten times, and start side by side.
 */
export class SharedCopies {
  readonly #copy: (workspaceId: string, options: CopyOptions) => Promise<void>;
  readonly #newest = new Map<string, Batch>();

  constructor(copy: (workspaceId: string, options: CopyOptions) => Promise<void>) {
    this.#copy = copy;
  }

  /** One that fails leaves the others alone. */
  async share<Result>(workspaceId: string, use: (layers: string[]) => Promise<Result>): Promise<Result> {
    return await new Promise<Result>((resolve, reject) => {
      const own: Waiting = { begin: (layers) => use(layers).then(resolve, reject), refuse: reject };
      const newest = this.#newest.get(workspaceId);
      if (newest && newest.begunAt === undefined) newest.members.push(own);
      else if (newest?.begunAt !== undefined && !newest.isCopied && performance.now() - newest.begunAt < YOUNG_MS) {
        const members = newest.members.splice(0);
        newest.stop.abort();
        void this.#run(workspaceId, [...members, own], newest.begunAt);
      } else void this.#run(workspaceId, [own]);
    });
  }

  /** Never rejects. One that is begun again is as old as the first: however many come, the last of them begins. */
  async #run(workspaceId: string, members: Waiting[], firstBegunAt?: number): Promise<void> {
    const batch: Batch = { members, stop: new AbortController(), begunAt: undefined, isCopied: false };
    this.#newest.set(workspaceId, batch);
    try {
      await this.#copy(workspaceId, {
        signal: batch.stop.signal,
        begun: () => {
          batch.begunAt = firstBegunAt ?? performance.now();
        },
        keep: async (layers) => {
          batch.isCopied = true;
          await Promise.all(batch.members.map((one) => one.begin(layers)));
        },
      });
    } catch (error) {
      // Whoever has gone to another batch is not among them any more.
      for (const one of batch.members) one.refuse(error);
    } finally {
      if (this.#newest.get(workspaceId) === batch) this.#newest.delete(workspaceId);
    }
  }
}
