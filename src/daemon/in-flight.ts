import { DAEMON_STOPPING } from "../workspaces/caller-leaves.ts";

interface Running {
  readonly abort: AbortController;
  readonly streams: boolean;
}

/** The operations that run now. */
export class InFlight {
  readonly #running = new Set<Running>();
  readonly #onChange: () => void;
  #stopping = false;
  readonly #waiting = new Set<() => void>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#running.size;
  }

  /** From here on nothing new is to begin. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** `end` is idempotent. */
  begin(streams: boolean): { abort: AbortController; end: () => void } {
    const running: Running = { abort: new AbortController(), streams };
    this.#running.add(running);
    this.#onChange();
    return {
      abort: running.abort,
      end: () => {
        if (!this.#running.delete(running)) return;
        this.#onChange();
        for (const look of this.#waiting) look();
      },
    };
  }

  /** Ends streams at once and, after the grace, calls too; all but those whose signal is in `except`. Gives up on what does not obey. */
  async settle(except: ReadonlySet<AbortSignal>, graceMs: number): Promise<void> {
    this.#stopping = true;
    const others = () => [...this.#running].filter((running) => !except.has(running.abort.signal));
    for (const running of others()) if (running.streams) running.abort.abort(DAEMON_STOPPING);
    await this.#until(() => others().length === 0, graceMs);
    for (const running of others()) running.abort.abort(DAEMON_STOPPING);
    await this.#until(() => others().length === 0, graceMs);
  }

  /** Resolves when nothing runs, or after that time. */
  async empty(timeoutMs: number): Promise<void> {
    await this.#until(() => this.#running.size === 0, timeoutMs);
  }

  #until(isSo: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (isSo()) done();
      };
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiting.add(look);
      look();
    });
  }
}
