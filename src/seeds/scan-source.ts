import { joined, shown, type BytePath } from "./byte-path.ts";
import { isIgnored } from "./git-here.ts";
import { findRepository, findRepositoryAt, type GitRepository } from "./git-repository.ts";
import { IncludedPaths } from "./included-paths.ts";
import type { JobControl } from "./job-control.ts";
import { scanDirectory } from "./scan-directory.ts";
import { scanRepository } from "./scan-repository.ts";
import { emptyScan, realPath, type Scan } from "./scan.ts";
import { outsideScope } from "./seed-source.ts";

export interface SourceScanOptions {
  readonly control: JobControl;
  /** Folders that are never seeded: the cache that the seed is written to, and the home. */
  readonly hidden: readonly BytePath[];
  /** Refused when the path has a link in it. */
  readonly exact?: boolean;
  /** Ignored files that come along. */
  readonly included?: IncludedPaths;
}

/** What a folder seeds: by git's rules where it is a checkout or lies in one, else everything. */
export async function scanSource(
  seedPath: BytePath,
  { control, hidden, exact = false, included = new IncludedPaths([]) }: SourceScanOptions,
): Promise<Scan> {
  const root = realPath(seedPath);
  // SECURITY: who may read below a folder gets nothing that a link there leads to (G-23)
  if (exact && root !== seedPath) throw outsideScope(shown(seedPath), shown(root));
  const scan = emptyScan(root);
  const excluded = new Set(hidden.flatMap((path) => [path, realOr(path)]));

  const inner = async (path: BytePath): Promise<boolean> => {
    const repository = findRepositoryAt(joined(root, path));
    if (repository === undefined) return false;
    await scanRepository(scan, path, repository, options);
    return true;
  };
  const options = { control, scanInner: inner, included, excluded };
  const outer = await repositoryOf(root, control);
  if (outer !== undefined) await scanRepository(scan, "", outer, options);
  else await scanDirectory(scan, "", { control, excluded, scanRepository: inner });
  return scan;
}

async function repositoryOf(root: BytePath, control: JobControl): Promise<GitRepository | undefined> {
  const repository = findRepository(root);
  // Who names a folder that an outer checkout ignores wants what is in it.
  return repository !== undefined && (await isIgnored(root, repository, control.signal)) ? undefined : repository;
}

function realOr(path: BytePath): BytePath {
  try {
    return realPath(path);
  } catch {
    return path; // not made yet
  }
}
