import { Worker } from "node:worker_threads";
import type { ReportProgress } from "../model/progress.ts";
import { runImport, type ImportOutcome, type ImportRequest } from "./import-job.ts";
import { ImportThreads } from "./import-threads.ts";

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

const IDLE_MS = 60_000;
let threads: ImportThreads | undefined;

function importInThread(request: ImportRequest, progress: ReportProgress, signal: AbortSignal): Promise<ImportOutcome> {
  const start = () => new Worker(new URL("./import-worker.js", import.meta.url));
  threads ??= new ImportThreads({ start, idleMs: IDLE_MS });
  return threads.run(request, progress, signal);
}
