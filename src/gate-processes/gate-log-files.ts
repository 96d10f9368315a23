import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a gate and its keeper have to say, at most a little more than a MiB … */
export const LOG_NAME = "gate.log";
/** … and what the file had before it began anew. The keeper makes it (`gate_keeper.c`), and the gate fills it (`gate-log.ts`). */
const OLDER_LOG_NAME = "gate.log.1";
const TAIL_BYTES = 1000;

/** The last words of both. */
export function gateLogTail(folder: string): string {
  const last = endOf(join(folder, LOG_NAME));
  const before = last.length < TAIL_BYTES ? endOf(join(folder, OLDER_LOG_NAME)) : "";
  return `${before}${last}`.slice(-TAIL_BYTES).trim();
}

function endOf(file: string): string {
  try {
    return readFileSync(file, "utf8").slice(-TAIL_BYTES);
  } catch {
    return ""; // it is not there yet
  }
}
