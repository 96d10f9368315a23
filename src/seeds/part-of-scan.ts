import { joined, type BytePath } from "./byte-path.ts";
import type { Scan } from "./scan.ts";

/** What a scan found in one folder of its root, as if that folder were the root. Undefined when it is no folder of the scan. */
export function partOfScan(scan: Scan, folder: BytePath): Scan | undefined {
  if (folder === "") return scan;
  const entries = scan.entries.below(folder);
  if (entries === undefined) return undefined;
  const inside = (path: BytePath) => path === folder || path.startsWith(`${folder}/`);
  const relative = (path: BytePath) => path.slice(folder.length + 1);
  return {
    root: joined(scan.root, folder),
    entries,
    repositories: scan.repositories
      .filter(({ path }) => inside(path))
      .map((repository) => ({ ...repository, path: relative(repository.path) })),
    ignored: {
      taken: scan.ignored.taken,
      left: scan.ignored.left.filter(inside).map(relative).filter(Boolean),
      leftSecrets: scan.ignored.leftSecrets.filter(inside).map(relative),
      takenSecrets: scan.ignored.takenSecrets.filter(inside).map(relative),
    },
    leftOut: scan.leftOut.filter(inside).map(relative),
    head: null,
  };
}
