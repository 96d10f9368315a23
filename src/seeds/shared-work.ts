import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import type { Progress, ReportProgress } from "../model/progress.ts";

interface Caller {
  readonly progress: ReportProgress | undefined;
}

interface Run<T> {
  readonly callers: Set<Caller>;
  readonly abort: AbortController;
  readonly result: Promise<T>;
}

/**
 * Work on the same thing asked for many times at once is done for all of them together. A caller only ever joins a run that begins
 * after the call. A run is aborted when its last caller has gone.
 */
export class SharedWork<T> {
  readonly #waiting = new Map<string, Run<T>>();
  readonly #last = new Map<string, Promise<unknown>>();

  join(
    key: string,
    work: (progress: ReportProgress, signal: AbortSignal) => Promise<T>,
    options: { progress?: ReportProgress | undefined; signal?: AbortSignal | undefined },
  ): Promise<T> {
    if (options.signal?.aborted) return Promise.reject(cancelled());
    const run = this.#waiting.get(key) ?? this.#queue(key, work);
    const caller: Caller = { progress: options.progress };
    run.callers.add(caller);
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        run.callers.delete(caller);
        if (run.callers.size === 0) {
          run.abort.abort();
          if (this.#waiting.get(key) === run) this.#waiting.delete(key);
        }
        // The run removes what it made before it ends; the last caller waits for that.
        if (run.callers.size > 0) reject(cancelled());
      };
      run.result.finally(onAbort(options.signal, leave)).then(resolve, reject);
    });
  }

  #queue(key: string, work: (progress: ReportProgress, signal: AbortSignal) => Promise<T>): Run<T> {
    const callers = new Set<Caller>();
    const abort = new AbortController();
    const tell = (progress: Progress) => {
      for (const caller of callers) caller.progress?.(progress);
    };
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(() => {
      if (this.#waiting.get(key) === run) this.#waiting.delete(key);
      if (abort.signal.aborted) throw cancelled();
      return work(tell, abort.signal);
    });
    const run: Run<T> = { callers, abort, result };
    this.#waiting.set(key, run);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return run;
  }
}

function cancelled(): Error {
  return failure("CANCELLED", "The import was cancelled");
}
