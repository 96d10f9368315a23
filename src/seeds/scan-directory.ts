import { isPlain, joined, type BytePath } from "./byte-path.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import { FolderScanner, kindOf, namesIn, type Scan } from "./scan.ts";
import { SourceChanged } from "./seed-errors.ts";

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
    scanNames(scan, folder, names, options.excluded, pending);
  }
}

function scanNames(
  scan: Scan,
  folder: BytePath,
  names: readonly BytePath[],
  excluded: ReadonlySet<BytePath>,
  pending: BytePath[],
): void {
  const scanner = new FolderScanner(scan, folder);
  const plain = isPlain(names.join("/"));
  for (const name of names) {
    const stat = scanner.look(name, plain);
    if (stat === undefined) throw new SourceChanged(joined(joined(scan.root, folder), name));
    const kind = kindOf(stat);
    if (kind !== "file") {
      const path = joined(folder, name);
      if (kind === "other" || excluded.has(joined(scan.root, path))) {
        scan.leftOut.push(path);
        continue;
      }
      if (kind === "directory") pending.push(path);
    }
    scanner.take(name, stat);
  }
}
