import type { Worker } from "node:worker_threads";
import type { ReportProgress } from "../model/progress.ts";
import type { ImportOutcome, ImportRequest } from "./import-job.ts";
import { ImportThread } from "./import-thread.ts";

export interface ImportThreadsOptions {
  /** Starts a thread that runs `import-worker.ts`. */
  start(): Worker;
  /** How long a thread waits for its next import before it ends. */
  readonly idleMs: number;
}

/**
 * Starting a thread takes longer than looking through a project that was imported before, so one is kept for a while. An import that
 * comes while it is busy gets a thread of its own: it must not wait for a large one.
 */
export class ImportThreads {
  readonly #options: ImportThreadsOptions;
  #waiting: { readonly thread: ImportThread; readonly timer: NodeJS.Timeout } | undefined;

  constructor(options: ImportThreadsOptions) {
    this.#options = options;
  }

  async run(request: ImportRequest, progress: ReportProgress, signal: AbortSignal): Promise<ImportOutcome> {
    const thread = this.#take() ?? new ImportThread(this.#options.start());
    try {
      return await thread.run(request, progress, signal);
    } finally {
      if (thread.sound && this.#waiting === undefined) this.#keep(thread);
      else thread.end();
    }
  }

  #take(): ImportThread | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.timer);
    return waiting?.thread.sound ? waiting.thread : undefined;
  }

  #keep(thread: ImportThread): void {
    const timer = setTimeout(() => this.#take()?.end(), this.#options.idleMs);
    timer.unref();
    this.#waiting = { thread, timer };
  }
}
