import { availableParallelism, cpus, totalmem } from "node:os";

const MIB = 1024 * 1024;

/** What the host has. Limits above it are refused. */
export interface HostSize {
  readonly processors: number;
  readonly memMib: number;
}

/** Asked once: the kernel writes a page about each of them, which takes half a millisecond. */
let processors: number | undefined;

export const hostSize = (): HostSize => ({
  processors: (processors ??= Math.max(1, cpus().length)),
  memMib: Math.floor(totalmem() / MIB),
});

/** What the daemon may use of the host: less where it is in a container or bound to some processors, and its sandboxes with it. */
export function shareOfHost(): HostSize {
  const limit = process.constrainedMemory();
  // 0 where it is unknown, more than there is where nothing limits it.
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { processors: Math.min(availableParallelism(), hostSize().processors), memMib: Math.floor(bytes / MIB) };
}
