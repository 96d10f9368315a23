import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { createLog, type Log } from "../base/log.ts";

/** What it was started with as standard error: a file that is written to at its end. */
const LOG_FD = 2;
const MAX_LOG_BYTES = 1024 * 1024;

/** SECURITY: a sandbox that has its gate complain without end does not fill the host's disk: a full log begins anew (G-28). */
export function openGateLog(): Log {
  return createLog((line) => {
    try {
      if (fstatSync(LOG_FD).size > MAX_LOG_BYTES) ftruncateSync(LOG_FD);
      writeSync(LOG_FD, line);
    } catch {
      // A full disk stops the log, not the gate.
    }
  });
}
