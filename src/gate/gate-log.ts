import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { createLog, type Log } from "../base/log.ts";

const MAX_LOG_BYTES = 1024 * 1024;

/**
 * A log in a file that is written to at its end.
 *
 * SECURITY: a sandbox that has its gate complain without end does not fill the host's disk: a full log begins anew (G-28).
 */
export function openGateLog(fd: number): Log {
  return createLog((line) => {
    try {
      if (fstatSync(fd).size > MAX_LOG_BYTES) ftruncateSync(fd);
      writeSync(fd, line);
    } catch {
      // SECURITY: a full disk stops the log, not the gate (G-54)
    }
  });
}
