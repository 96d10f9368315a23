import { type Stats, closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { failure } from "../../model/error-codes.ts";

const PAGE = 4096;
const ENTRY_BYTES = 8;
const COPY_BYTES = 4 * 1024 * 1024;
const HEAD_BYTES = 16;
/** Runs are short and many, so they are copied at once; after so much of them others have a turn. */
const TURN_BYTES = 8 * 1024 * 1024;
/** Of the high half of an entry in `/proc/PID/pagemap`. */
const PRESENT = 1 << 31;
const SWAPPED = 1 << 30;
const OF_A_FILE = 1 << 29;

/** The file that a machine's memory began as. */
export type MemoryFile = Pick<Stats, "ino" | "size">;

interface Mapping {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the emulator has mapped the template's memory, from its first byte to its last.
 *
 * SECURITY: an emulator that a guest has taken over can map that file at any length, and a walk over the mapping would never end (G-10).
 */
function findMapping(pid: number, { ino, size }: MemoryFile): Mapping {
  for (const line of readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")) {
    const [, from, to, access, found] = /^([0-9a-f]+)-([0-9a-f]+) (\S+) 0+ \S+ (\d+)/.exec(line) ?? [];
    if (from === undefined || to === undefined || Number(found) !== ino || !access?.startsWith("rw")) continue;
    const mapping = { start: parseInt(from, 16), end: parseInt(to, 16) };
    if (mapping.end - mapping.start === size) return mapping;
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

/** Lets others have a turn now and then. */
class Turns {
  #bytes = 0;

  async copied(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes < TURN_BYTES) return;
    this.#bytes = 0;
    await setImmediate();
  }
}

/** Writes to a file what a machine's memory has that its template's has not: for each run its place, its length and its bytes. */
export async function saveOwnMemory(pid: number, began: MemoryFile, target: string): Promise<void> {
  const mapping = findMapping(pid, began);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const file = openSync(target, "wx", 0o600);
  const head = Buffer.alloc(HEAD_BYTES);
  const chunk = Buffer.allocUnsafe(COPY_BYTES);
  const turns = new Turns();
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
        await turns.copied(got);
      }
    }
  } finally {
    closeSync(file);
    closeSync(memory);
  }
}

/** Gives a machine that does not run yet what `saveOwnMemory` has saved of another. */
export async function loadOwnMemory(pid: number, began: MemoryFile, source: string): Promise<void> {
  const mapping = findMapping(pid, began);
  const memory = openSync(`/proc/${pid}/mem`, "r+");
  const file = openSync(source, "r");
  const head = Buffer.alloc(HEAD_BYTES);
  const chunk = Buffer.allocUnsafe(COPY_BYTES);
  const turns = new Turns();
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
        await turns.copied(got);
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
