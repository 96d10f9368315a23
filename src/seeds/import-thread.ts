import type { Worker } from "node:worker_threads";
import { ClocheError } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { ImportOutcome, ImportRequest } from "./import-job.ts";
import type { ErrorMessage, ImportMessage, ImportOrder } from "./import-messages.ts";

interface Job {
  readonly progress: ReportProgress;
  readonly resolve: (outcome: ImportOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** One importing thread, seen from the daemon's. It holds the process only while it works. */
export class ImportThread {
  readonly #worker: Worker;
  #job: Job | undefined;
  #jobs = 0;
  #sound = true;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.unref();
    worker.on("message", (message: ImportMessage) => this.#hear(message));
    worker.on("error", (error) => this.#lose(error));
    worker.on("exit", () => this.#lose(failure("INTERNAL", "The importing thread ended without an answer")));
  }

  /** Whether it can be given another import: it has not ended, and no fault left it in a state that nobody thought of. */
  get sound(): boolean {
    return this.#sound;
  }

  async run(request: ImportRequest, progress: ReportProgress, signal: AbortSignal): Promise<ImportOutcome> {
    const id = ++this.#jobs;
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const stop = () => {
      Atomics.store(flag, 0, 1);
      this.#tell({ type: "stop", id });
    };
    this.#worker.ref();
    let stopListening: (() => void) | undefined;
    try {
      return await new Promise<ImportOutcome>((resolve, reject) => {
        this.#job = { progress, resolve, reject };
        this.#tell({ type: "import", id, request, stop: flag.buffer });
        stopListening = onAbort(signal, stop);
      });
    } finally {
      this.#job = undefined;
      stopListening?.();
      this.#worker.unref();
    }
  }

  end(): void {
    this.#sound = false;
    void this.#worker.terminate();
  }

  #tell(order: ImportOrder): void {
    this.#worker.postMessage(order);
  }

  #hear(message: ImportMessage): void {
    if (message.type === "progress") {
      const { step, fraction } = message;
      this.#job?.progress({ step, ...(fraction !== undefined && { fraction }) });
    } else if (message.type === "done") this.#job?.resolve(message.outcome);
    else {
      if (message.error.code === undefined) this.#sound = false;
      this.#job?.reject(toError(message.error));
    }
  }

  #lose(error: unknown): void {
    this.#sound = false;
    this.#job?.reject(error);
  }
}

function toError({ code, message, hint, details }: ErrorMessage): Error {
  if (code === undefined) return new Error(message);
  return new ClocheError(code, message, hint ?? "", details === undefined ? {} : { details });
}
