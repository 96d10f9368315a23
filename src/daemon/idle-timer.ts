/** Calls `onIdle` once nothing has been going on for a while. Told of every change, it never looks by itself. */
export class IdleTimer {
  readonly #idleMs: number;
  readonly #isBusy: () => boolean;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(idleMs: number, isBusy: () => boolean, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#isBusy = isBusy;
    this.#onIdle = onIdle;
  }

  /** Something began or ended: what counts as idle starts anew. */
  changed(): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#isBusy()) return;
    this.#timer = setTimeout(() => {
      if (!this.#isBusy()) this.#onIdle();
    }, this.#idleMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
