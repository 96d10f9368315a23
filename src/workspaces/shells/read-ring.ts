import { onAbort } from "../../base/on-abort.ts";
import { joinShell, type FoundShell } from "./find-shell.ts";

/** Consecutive bytes of a shell's output; `start` is the offset of the first one since the shell was opened. */
export interface RingBytes {
  readonly start: number;
  readonly bytes: Buffer;
}

const MAX_WAIT_MS = 600_000;

/** What the ring holds from `from` on. Starts later when older bytes are dropped, also while this reads. */
export async function readRing(found: FoundShell, from: number, signal?: AbortSignal): Promise<RingBytes> {
  const { start, end } = found.info.stdout;
  let first = Math.max(start, from);
  if (first >= end) return { start: end, bytes: Buffer.alloc(0) };
  const process = joinShell(found, first);
  const stopListening = onAbort(signal, () => process.detach());
  let parts: Buffer[] = [];
  let next = first;
  try {
    for await (const { offset, data } of process.output()) {
      if (offset > next) {
        parts = [];
        first = offset;
      }
      parts.push(data);
      next = offset + data.length;
      if (next >= end) break;
    }
  } finally {
    stopListening();
    process.detach();
  }
  signal?.throwIfAborted();
  return { start: first, bytes: Buffer.concat(parts) };
}

/** Resolves when nothing came for `idleMs`, when the shell has ended, or after ten minutes. */
export async function waitForIdle(found: FoundShell, idleMs: number, signal?: AbortSignal): Promise<void> {
  const process = joinShell(found, found.info.stdout.end);
  const leave = () => process.detach();
  const idle = setTimeout(leave, idleMs);
  const limit = setTimeout(leave, MAX_WAIT_MS);
  const stopListening = onAbort(signal, leave);
  try {
    // The ring keeps what comes: here only the time of it counts.
    for await (const { data } of process.output()) if (data.length > 0) idle.refresh();
  } finally {
    clearTimeout(idle);
    clearTimeout(limit);
    stopListening();
    process.detach();
  }
  signal?.throwIfAborted();
}
