import type { ClocheError } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";

export interface QueueLimits {
  /** Of all. */
  readonly atOnce: number;
  /** Of one key. */
  readonly perKey: number;
  readonly waitingPerKey: number;
  readonly waiting: number;
  /** The error for work that finds the queue full. */
  readonly refuse: (key: string) => ClocheError;
}

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Limits how much work goes on at once, and how much waits. Keys take turns, so that one key with much work does not hold up the others. */
export class FairQueue {
  readonly #limits: QueueLimits;
  /** The next key to be served first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Resolves when there is room, to a function that ends the work. Calling that again does nothing. */
  enter(key: string, signal: AbortSignal): (() => void) | Promise<() => void> {
    signal.throwIfAborted();
    const { perKey, atOnce, waiting, waitingPerKey, refuse } = this.#limits;
    const line = this.#lines.get(key) ?? { running: 0, waiting: new Set() };
    this.#lines.set(key, line);
    if (line.running < perKey && this.#running < atOnce) return this.#begin(key, line);
    // SECURITY: what waits is bounded as well (G-25)
    if (line.waiting.size >= waitingPerKey || this.#waiting >= waiting) {
      this.#forget(key, line);
      throw refuse(key);
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        this.#leave(line, go);
        stopListening();
        resolve(this.#begin(key, line));
      };
      const stopListening = onAbort(signal, () => {
        this.#leave(line, go);
        this.#forget(key, line);
        reject(signal.reason as Error);
      });
      line.waiting.add(go);
      this.#waiting++;
    });
  }

  #leave(line: Line, go: () => void): void {
    if (line.waiting.delete(go)) this.#waiting--;
  }

  #begin(key: string, line: Line): () => void {
    line.running++;
    this.#running++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      line.running--;
      this.#running--;
      this.#forget(key, line);
      this.#next();
    };
  }

  #forget(key: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0 && this.#lines.get(key) === line) this.#lines.delete(key);
  }

  #next(): void {
    const { atOnce, perKey } = this.#limits;
    for (const [key, line] of this.#lines) {
      if (this.#running >= atOnce) return;
      const [go] = line.waiting;
      if (!go || line.running >= perKey) continue;
      // Its next one comes after those of the others.
      this.#lines.delete(key);
      this.#lines.set(key, line);
      go();
      return;
    }
  }
}
