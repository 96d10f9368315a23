import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import type { ForkOptions, MapOptions, MapTask } from "./options.ts";

const DEFAULT_CONCURRENCY = 4;

export interface Mapping<Task, Result, Fork> {
  readonly tasks: Iterable<Task>;
  work(fork: Fork, task: Task, at: MapTask): Promise<Result> | Result;
  fork(options: ForkOptions): Promise<Fork>;
}

/**
 * Does each task in a fork of its own, some at a time, and gives the results in the order of the tasks. After the first error no task is begun, the
 * forks of the others are deleted, and the error is thrown once nothing is left of any of them.
 */
export async function mapForks<Task, Result, Fork extends AsyncDisposable>(
  mapping: Mapping<Task, Result, Fork>,
  { concurrency = DEFAULT_CONCURRENCY, signal, ...options }: MapOptions,
): Promise<Result[]> {
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw failure("INVALID_ARGUMENT", `Cannot run ${concurrency} tasks at a time`, {
      hint: "Give a concurrency of 1 or more",
    });
  }
  const stop = new AbortController();
  const stopListening = onAbort(signal, () => stop.abort());
  // One iterator for all workers: each takes the next task that nobody has.
  const waiting = [...mapping.tasks].entries();
  const results: Result[] = [];
  const errors: unknown[] = [];
  const worker = async () => {
    for (const [index, task] of waiting) {
      if (stop.signal.aborted) return;
      try {
        const fork = await mapping.fork({ ...options, signal: stop.signal });
        results[index] = await within(fork, stop.signal, () =>
          mapping.work(fork, task, { index, signal: stop.signal }),
        );
      } catch (error) {
        errors.push(error);
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  stopListening();
  if (signal?.aborted) throw failure("CANCELLED", "The tasks were cancelled");
  if (errors.length > 0) throw errors[0];
  return results;
}

/** Deletes the fork when the work is done or has failed, and at once when the others are to stop: what runs in it ends then. */
async function within<Result>(
  fork: AsyncDisposable,
  signal: AbortSignal,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const end = async () => {
    await fork[Symbol.asyncDispose]();
  };
  const stopListening = onAbort(signal, () => {
    end().catch(() => undefined); // tried again below
  });
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    // The first error is the one to tell; a fork that could not be deleted is left to its time to live.
    await end().catch(() => undefined);
    throw error;
  } finally {
    stopListening();
  }
  await end();
  return result;
}
