import { Worker } from "node:worker_threads";
import { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import type { ReportProgress } from "../model/results.ts";
import { runImport, type ImportOutcome, type ImportRequest } from "./import-job.ts";
import type { ErrorMessage, ImportMessage, ImportWorkerData } from "./import-messages.ts";

export type ImportRunner = (
  request: ImportRequest,
  progress: ReportProgress,
  signal: AbortSignal,
) => Promise<ImportOutcome>;

/**
 * Scanning and copying use blocking calls, several times faster than waiting for each file, in a thread of their own: the daemon's must
 * stay free. Node cannot start a thread from TypeScript, so from the sources it all happens here.
 */
export const runSeedImport: ImportRunner = import.meta.url.endsWith(".ts") ? importHere : importInThread;

function importHere(request: ImportRequest, progress: ReportProgress, signal: AbortSignal): Promise<ImportOutcome> {
  return runImport(request, {
    progress: (step, fraction) => progress({ step, ...(fraction !== undefined && { fraction }) }),
    aborted: () => signal.aborted,
    signal,
  });
}

export async function importInThread(
  request: ImportRequest,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  const workerData: ImportWorkerData = { request, stop: new SharedArrayBuffer(4) };
  const worker = new Worker(new URL("./import-worker.js", import.meta.url), { workerData });
  const stop = () => {
    Atomics.store(new Int32Array(workerData.stop), 0, 1);
    worker.postMessage("stop");
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await new Promise<ImportOutcome>((resolve, reject) => {
      worker.on("message", (message: ImportMessage) => {
        if (message.type === "progress") {
          progress({ step: message.step, ...(message.fraction !== undefined && { fraction: message.fraction }) });
        } else if (message.type === "done") resolve(message.outcome);
        else reject(toError(message.error));
      });
      worker.on("error", reject);
      worker.on("exit", () => reject(failure("INTERNAL", "The importing thread ended without an answer")));
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function toError({ code, message, hint, details }: ErrorMessage): Error {
  if (code === undefined) return new Error(message);
  return new ClocheError(code, message, hint ?? "", details === undefined ? {} : { details });
}
