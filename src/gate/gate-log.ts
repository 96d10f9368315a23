import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { createLog, type Log } from "../base/log.ts";

const MAX_LOG_BYTES = 1024 * 1024;
/** Copied at a time: a gate that copies its log needs no more memory than at any other moment. */
const PART_BYTES = 64 * 1024;

/** Both are written to at their end. */
export interface GateLogFiles {
  readonly current: number;
  /** Gets what the current one had when it was full. */
  readonly older: number;
}

/**
 * A log in two files, of which the older one is kept until the newer one is full again. The gate can rename no file of its folder, so it copies.
 *
 * SECURITY: a sandbox that has its gate complain without end does not fill the host's disk: a full log begins anew, and there is one older one (G-28).
 */
export function openGateLog(files: GateLogFiles): Log {
  return createLog((line) => {
    try {
      if (fstatSync(files.current).size > MAX_LOG_BYTES) beginAnew(files);
      writeSync(files.current, line);
    } catch {
      // SECURITY: a full disk stops the log, not the gate (G-54)
    }
  });
}

function beginAnew({ current, older }: GateLogFiles): void {
  try {
    copy(current, older);
  } catch {
    // A full disk has no room for the older one. The newer one begins anew all the same.
  }
  ftruncateSync(current);
}

/** The end is where nothing more is read: the keeper writes into the same file. */
function copy(from: number, to: number): void {
  const part = Buffer.allocUnsafe(PART_BYTES);
  // One line more than is allowed, unless somebody else has written much.
  let at = Math.max(0, fstatSync(from).size - MAX_LOG_BYTES - PART_BYTES);
  let size = readSync(from, part, 0, PART_BYTES, at);
  // What was older makes room first, also on a disk that is full.
  ftruncateSync(to);
  while (size > 0) {
    writeWhole(to, part.subarray(0, size));
    at += size;
    size = readSync(from, part, 0, PART_BYTES, at);
  }
}

function writeWhole(to: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(to, bytes, at);
}
