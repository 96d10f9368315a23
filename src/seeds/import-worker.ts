/** The thread that imports one seed and ends; started by `run-import.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { isClocheError } from "../base/errors.ts";
import { runImport } from "./import-job.ts";
import type { ErrorMessage, ImportMessage, ImportWorkerData } from "./import-messages.ts";

const { request, stop } = workerData as ImportWorkerData;
const flag = new Int32Array(stop);
const controller = new AbortController();
const send = (message: ImportMessage) => parentPort?.postMessage(message);

parentPort?.once("message", () => controller.abort());
// the listener must not keep the thread alive once the work is done
parentPort?.unref();

try {
  const outcome = await runImport(request, {
    progress: (step, fraction) => send({ type: "progress", step, ...(fraction !== undefined && { fraction }) }),
    aborted: () => Atomics.load(flag, 0) !== 0,
    signal: controller.signal,
  });
  send({ type: "done", outcome });
} catch (error) {
  send({ type: "failed", error: toMessage(error) });
}

function toMessage(error: unknown): ErrorMessage {
  if (isClocheError(error)) {
    const { code, message, hint, details } = error;
    return { code, message, hint, details };
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
