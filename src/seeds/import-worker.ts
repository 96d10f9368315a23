/** The thread that imports seeds, one after the other; started and ended by `import-threads.ts`. */
import { parentPort } from "node:worker_threads";
import { isClocheError } from "../base/errors.ts";
import { runImport } from "./import-job.ts";
import type { ErrorMessage, ImportMessage, ImportOrder } from "./import-messages.ts";

const send = (message: ImportMessage) => parentPort?.postMessage(message);
let current: { readonly id: number; readonly controller: AbortController } | undefined;

parentPort?.on("message", (order: ImportOrder) => {
  if (order.type === "import") void work(order);
  else if (order.id === current?.id) current.controller.abort();
});

async function work({ id, request, stop }: ImportOrder & { type: "import" }): Promise<void> {
  const flag = new Int32Array(stop);
  const controller = new AbortController();
  current = { id, controller };
  let last: ImportMessage;
  try {
    const outcome = await runImport(request, {
      progress: (step, fraction) => send({ type: "progress", step, ...(fraction !== undefined && { fraction }) }),
      aborted: () => Atomics.load(flag, 0) !== 0,
      signal: controller.signal,
    });
    last = { type: "done", outcome };
  } catch (error) {
    last = { type: "failed", error: toMessage(error) };
  }
  current = undefined;
  send(last);
}

function toMessage(error: unknown): ErrorMessage {
  if (isClocheError(error)) {
    const { code, message, hint, details } = error;
    return { code, message, hint, details };
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
