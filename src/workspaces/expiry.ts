import type { Log } from "../base/log.ts";
import type { StoredWorkspace } from "../contracts/store.ts";

export interface ExpiryOptions {
  now(): number;
  list(): StoredWorkspace[];
  /** Whether a command runs in it: that is activity, so it cannot expire now. */
  isBusy(workspaceId: string): boolean;
  expire(workspaceId: string): Promise<void>;
  readonly log: Log;
}

/** Longest that a timer sleeps, so that a changed system clock is noticed. */
const MAX_SLEEP_SECONDS = 60;
/** Least time before a busy workspace is looked at again. */
const BUSY_PAUSE_SECONDS = 0.5;
/** One that could not be removed is tried again after this long: a Docker engine may be away for hours. */
const RETRY_SECONDS = 60;

/** Deletes a workspace when its time to live has passed since its last activity. One timer, set for the one that is due first. */
export class Expiry {
  readonly #options: ExpiryOptions;
  #timer: NodeJS.Timeout | undefined;
  /** When those that could not be removed are tried again. */
  readonly #retryAt = new Map<string, number>();
  #stopped = false;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /** Sets the timer anew; called when a workspace was made. Later activity only moves an expiry away, which the timer finds out. */
  schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const due = this.#options.list().map((stored) => this.#expiresAt(stored));
    if (due.length === 0 && this.#timer === undefined) return;
    const seconds = Math.min(MAX_SLEEP_SECONDS, Math.max(0, Math.min(...due) - this.#options.now()));
    this.#timer = setTimeout(() => void this.#reap(), Math.ceil(seconds * 1000) + 1);
    this.#timer.unref();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #reap(): Promise<void> {
    const listed = this.#options.list();
    for (const id of this.#retryAt.keys())
      if (!listed.some(({ workspaceId }) => workspaceId === id)) this.#retryAt.delete(id);
    for (const stored of listed) {
      if (this.#expiresAt(stored) > this.#options.now()) continue;
      try {
        this.#options.log.info("a workspace expired", { workspaceId: stored.workspaceId });
        await this.#options.expire(stored.workspaceId);
      } catch (error) {
        this.#retryAt.set(stored.workspaceId, this.#options.now() + RETRY_SECONDS);
        this.#options.log.error("cannot remove an expired workspace", {
          workspaceId: stored.workspaceId,
          error: String(error),
        });
      }
    }
    this.schedule();
  }

  #expiresAt({ workspaceId, lastActivityAt, ttlSeconds }: StoredWorkspace): number {
    return this.#options.isBusy(workspaceId)
      ? this.#options.now() + Math.max(ttlSeconds, BUSY_PAUSE_SECONDS)
      : Math.max(lastActivityAt + ttlSeconds, this.#retryAt.get(workspaceId) ?? 0);
  }
}
