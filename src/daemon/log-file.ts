import { copyFileSync, openSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { createLog, isLogLevel, type Log } from "../base/log.ts";

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** The daemon's log. One that has grown large is set aside as `FILE.old` first. */
export function openLogFile(file: string, level: string | undefined): Log {
  // SECURITY: the log names paths and commands of the user (G-14)
  const fd = openSync(file, "a", 0o600);
  if (fstatSync(fd).size > MAX_LOG_BYTES) {
    // Copied, not renamed: this process's stderr is the same file, opened by the process that started it.
    copyFileSync(file, `${file}.old`);
    ftruncateSync(fd);
  }
  const write = (line: string) => {
    try {
      writeSync(fd, line);
    } catch {
      // A full disk must not end the daemon for the sake of its log.
    }
  };
  return createLog(write, level !== undefined && isLogLevel(level) ? level : "info");
}
