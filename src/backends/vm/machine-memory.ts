import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { failure } from "../../model/error-codes.ts";

const PAGE = 4096;
const ENTRY_BYTES = 8;
const COPY_BYTES = 4 * 1024 * 1024;
const HEAD_BYTES = 16;
/** Of the high half of an entry in `/proc/PID/pagemap`. */
const PRESENT = 1 << 31;
const SWAPPED = 1 << 30;
const OF_A_FILE = 1 << 29;

interface Mapping {
  readonly start: number;
  readonly end: number;
}

/** Where the emulator has mapped the template's memory. */
function findMapping(pid: number, inode: number): Mapping {
  for (const line of readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")) {
    const [, start, end, access, found] = /^([0-9a-f]+)-([0-9a-f]+) (\S+) 0+ \S+ (\d+)/.exec(line) ?? [];
    if (start !== undefined && end !== undefined && Number(found) === inode && access?.startsWith("rw"))
      return { start: parseInt(start, 16), end: parseInt(end, 16) };
  }
  throw failure("INTERNAL", "The memory of the machine was not found");
}

/** Runs of pages that a machine has written to, and so has of its own. The machine must stand still. */
function* ownRuns(pid: number, { start, end }: Mapping): Generator<{ offset: number; bytes: number }> {
  const pagemap = openSync(`/proc/${pid}/pagemap`, "r");
  try {
    const pages = (end - start) / PAGE;
    const entries = Buffer.alloc(Math.min(pages * ENTRY_BYTES, 1024 * 1024));
    let from = -1;
    for (let page = 0; page < pages;) {
      const got = readSync(pagemap, entries, 0, entries.length, (start / PAGE + page) * ENTRY_BYTES) / ENTRY_BYTES;
      if (got === 0) break;
      for (let at = 0; at < got && page < pages; at++, page++) {
        const high = entries.readInt32LE(at * ENTRY_BYTES + 4);
        const own = (high & (PRESENT | SWAPPED)) !== 0 && (high & OF_A_FILE) === 0;
        if (own && from < 0) from = page;
        if (!own && from >= 0) {
          yield { offset: from * PAGE, bytes: (page - from) * PAGE };
          from = -1;
        }
      }
    }
    if (from >= 0) yield { offset: from * PAGE, bytes: (pages - from) * PAGE };
  } finally {
    closeSync(pagemap);
  }
}

/** Writes to a file what a machine's memory has that its template's has not: for each run its place, its length and its bytes. */
export function saveOwnMemory(pid: number, memoryInode: number, target: string): void {
  const mapping = findMapping(pid, memoryInode);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const file = openSync(target, "wx", 0o600);
  const head = Buffer.alloc(HEAD_BYTES);
  const chunk = Buffer.allocUnsafe(COPY_BYTES);
  try {
    for (const { offset, bytes } of ownRuns(pid, mapping)) {
      head.writeBigUInt64LE(BigInt(offset), 0);
      head.writeBigUInt64LE(BigInt(bytes), 8);
      writeSync(file, head);
      for (let done = 0; done < bytes;) {
        const got = readSync(memory, chunk, 0, Math.min(COPY_BYTES, bytes - done), mapping.start + offset + done);
        if (got === 0) throw failure("INTERNAL", "The memory of the machine ends too early");
        writeSync(file, chunk, 0, got);
        done += got;
      }
    }
  } finally {
    closeSync(file);
    closeSync(memory);
  }
}

/** Gives a machine that does not run yet what `saveOwnMemory` has saved of another. */
export function loadOwnMemory(pid: number, memoryInode: number, source: string): void {
  const mapping = findMapping(pid, memoryInode);
  const memory = openSync(`/proc/${pid}/mem`, "r+");
  const file = openSync(source, "r");
  const head = Buffer.alloc(HEAD_BYTES);
  const chunk = Buffer.allocUnsafe(COPY_BYTES);
  try {
    while (readSync(file, head, 0, HEAD_BYTES, null) === HEAD_BYTES) {
      const offset = Number(head.readBigUInt64LE(0));
      const bytes = Number(head.readBigUInt64LE(8));
      if (mapping.start + offset + bytes > mapping.end) throw torn();
      for (let done = 0; done < bytes;) {
        const got = readSync(file, chunk, 0, Math.min(COPY_BYTES, bytes - done), null);
        if (got === 0) throw torn();
        writeSync(memory, chunk, 0, got, mapping.start + offset + done);
        done += got;
      }
    }
  } finally {
    closeSync(file);
    closeSync(memory);
  }
}

const torn = (): Error =>
  failure("SANDBOX_START_FAILED", "Cannot start from the saved machine: its memory is not complete", {
    hint: "Delete the snapshot, and reset to another",
  });
