/** Two requests within this time count as made at once. It is about the time that two machines take to be ready. */
const AT_ONCE_MS = 2000;
/** For how long it is remembered. */
export const REMEMBERED_MS = 60_000;

/** How many machines of one kind were asked for at once in the last minute. */
export class Demand {
  #times: number[] = [];

  asked(now: number): void {
    this.#forget(now);
    this.#times.push(now);
  }

  /** The most that came at once. */
  most(now: number): number {
    this.#forget(now);
    let most = 0;
    let first = 0;
    for (const [last, time] of this.#times.entries()) {
      while (time - (this.#times[first] ?? time) >= AT_ONCE_MS) first++;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  #forget(now: number): void {
    this.#times = this.#times.filter((time) => now - time < REMEMBERED_MS);
  }
}
