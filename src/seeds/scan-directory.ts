import { joined, type BytePath } from "./byte-path.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import { namesIn, scanEntry, type Scan } from "./scan.ts";
import { sourceFailure } from "./seed-errors.ts";

export interface DirectoryScanOptions {
  readonly control: JobControl;
  /** Absolute folders that are never seeded: the cache that the seed is being written to. */
  readonly excluded: ReadonlySet<BytePath>;
  /** Takes a folder that has a `.git`; false when that is no repository. */
  scanRepository(path: BytePath): Promise<boolean>;
}

/**
 * Everything below a plain folder. Sockets, pipes and devices are left out: they are no content, and reading one may hang or
 * change it. A checkout below it is scanned as a checkout, so that what git ignores stays home wherever it is.
 */
export async function scanDirectory(scan: Scan, top: BytePath, options: DirectoryScanOptions): Promise<void> {
  const pending: BytePath[] = [top];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    checkAborted(options.control);
    const names = namesIn(scan.root, folder);
    if (folder !== top && names.includes(".git") && (await options.scanRepository(folder))) continue;
    for (const name of names) {
      const path = joined(folder, name);
      if (options.excluded.has(joined(scan.root, path))) {
        scan.leftOut.push(path);
        continue;
      }
      const entry = scanOrFail(scan.root, path);
      if (entry === undefined) {
        scan.leftOut.push(path);
        continue;
      }
      scan.entries.push(entry);
      if (entry.kind === "directory") pending.push(path);
    }
  }
}

function scanOrFail(root: BytePath, path: BytePath): ReturnType<typeof scanEntry> {
  try {
    return scanEntry(root, path);
  } catch (error) {
    throw sourceFailure(joined(root, path), error);
  }
}
