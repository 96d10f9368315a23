import { PROPOSAL_SECONDS } from "../model/proposal-kinds.ts";

/** The longest that a timer of Node's takes. */
const LONGEST_MS = 2 ** 31 - 1;

interface Due {
  readonly expiresAt: number;
  /** By a clock that nobody sets. */
  readonly deadline: number;
}

interface ExpiryOptions {
  readonly now: () => number;
  readonly monotonic?: () => number;
  /** Those whose time is over may be more than one; each is told once. */
  readonly onDue: (proposalId: string) => void;
}

/** When proposals are over that nobody has answered. A clock that is set back makes none of them last longer. */
export class Expiry {
  readonly #due = new Map<string, Due>();
  readonly #options: ExpiryOptions;
  readonly #monotonic: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ExpiryOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now() / 1000);
  }

  add(proposalId: string, expiresAt: number): void {
    // SECURITY: nothing waits longer than its time by the clock that nobody sets (G-100)
    const left = Math.min(expiresAt - this.#options.now(), PROPOSAL_SECONDS);
    this.#due.set(proposalId, { expiresAt, deadline: this.#monotonic() + left });
    this.#arm();
  }

  remove(proposalId: string): void {
    this.#due.delete(proposalId);
  }

  /** Tells of those whose time is over: by the timer, and before anything is decided. */
  check(): void {
    const [now, monotonic] = [this.#options.now(), this.#monotonic()];
    for (const [id, { expiresAt, deadline }] of this.#due) {
      if (now < expiresAt && monotonic < deadline) continue;
      this.#due.delete(id);
      this.#options.onDue(id);
    }
    this.#arm();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#due.clear();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const first = Math.min(...[...this.#due.values()].map(({ deadline }) => deadline));
    if (first === Infinity) return;
    const ms = Math.max(0, (first - this.#monotonic()) * 1000);
    this.#timer = setTimeout(() => this.check(), Math.min(ms, LONGEST_MS)).unref();
  }
}
