import type { Log } from "../base/log.ts";
import type { StoredWorkspace } from "../contracts/store.ts";

export interface ExpiryOptions {
  now(): number;
  list(): StoredWorkspace[];
  /** `busy`: something goes on in it, so it does not expire now. `done`: it is due no more, or is gone. */
  expire(workspaceId: string): Promise<"busy" | "done">;
  readonly log: Log;
}

/** Longest that a timer sleeps, so that a changed system clock is noticed. */
const MAX_SLEEP_SECONDS = 60;
/** Least time before a busy workspace is looked at again. */
const BUSY_PAUSE_SECONDS = 0.5;
/** One that could not be ended is tried again after this long: a Docker engine may be away for hours. */
const RETRY_SECONDS = 60;

/** When something is to become of a workspace by itself: when its time to live is over, or its grace after that. */
export function dueAt({
  keep,
  expired,
  lastActivityAt,
  ttlSeconds,
}: Pick<StoredWorkspace, "keep" | "expired" | "lastActivityAt" | "ttlSeconds">): number {
  if (keep) return Infinity;
  return expired ? expired.at + expired.graceSeconds : lastActivityAt + ttlSeconds;
}

/** Tells of workspaces whose time is over. One timer, set for the one that is due first. */
export class Expiry {
  readonly #options: ExpiryOptions;
  #timer: NodeJS.Timeout | undefined;
  /** When those that were due and are still there are looked at again. */
  readonly #againAt = new Map<string, number>();
  #stopped = false;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /** Sets the timer anew; called when one may be due sooner than all others. Later activity only moves an expiry away, which the timer finds out. */
  schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const due = this.#options.list().map((stored) => this.#nextLook(stored));
    if (due.length === 0 && this.#timer === undefined) return;
    const seconds = Math.min(MAX_SLEEP_SECONDS, Math.max(0, Math.min(...due) - this.#options.now()));
    this.#timer = setTimeout(() => void this.#look(), Math.ceil(seconds * 1000) + 1);
    this.#timer.unref();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const listed = this.#options.list();
    for (const id of this.#againAt.keys())
      if (!listed.some(({ workspaceId }) => workspaceId === id)) this.#againAt.delete(id);
    for (const stored of listed) if (this.#nextLook(stored) <= this.#options.now()) await this.#expire(stored);
    this.schedule();
  }

  async #expire({ workspaceId, ttlSeconds }: StoredWorkspace): Promise<void> {
    try {
      if ((await this.#options.expire(workspaceId)) === "done") this.#againAt.delete(workspaceId);
      else {
        const pause = Math.min(MAX_SLEEP_SECONDS, Math.max(BUSY_PAUSE_SECONDS, ttlSeconds));
        this.#againAt.set(workspaceId, this.#options.now() + pause);
      }
    } catch (error) {
      this.#againAt.set(workspaceId, this.#options.now() + RETRY_SECONDS);
      this.#options.log.error("cannot end an expired workspace", { workspaceId, error: String(error) });
    }
  }

  #nextLook(stored: StoredWorkspace): number {
    const again = this.#againAt.get(stored.workspaceId) ?? 0;
    // Further away than any pause is: the clock was set back meanwhile.
    return Math.max(dueAt(stored), again > this.#options.now() + RETRY_SECONDS ? 0 : again);
  }
}
