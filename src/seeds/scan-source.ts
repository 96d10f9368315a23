import { realpathSync } from "node:fs";
import { joined, shown, toBytePath, toFs, type BytePath } from "./byte-path.ts";
import { isIgnored } from "./git-here.ts";
import { findRepository, findRepositoryAt, type GitRepository } from "./git-repository.ts";
import type { JobControl } from "./job-control.ts";
import { scanDirectory } from "./scan-directory.ts";
import { scanRepository } from "./scan-repository.ts";
import type { Scan } from "./scan.ts";
import { ScannedEntries } from "./scanned-entries.ts";
import { sourceFailure } from "./seed-errors.ts";
import { outsideScope } from "./seed-source.ts";

/** What a folder seeds: by git's rules where it is a checkout or lies in one, else everything. */
export async function scanSource(
  seedPath: BytePath,
  cachePath: BytePath,
  control: JobControl,
  exact = false,
): Promise<Scan> {
  const root = realFolder(seedPath);
  // SECURITY: who may read below a folder gets nothing that a link there leads to (G-23)
  if (exact && root !== seedPath) throw outsideScope(shown(seedPath), shown(root));
  const scan: Scan = { root, entries: new ScannedEntries(), repositories: [], ignoring: [], leftOut: [], head: null };
  const excluded = new Set([cachePath, realOr(cachePath)]);

  const inner = async (path: BytePath): Promise<boolean> => {
    const repository = findRepositoryAt(joined(root, path));
    if (repository === undefined) return false;
    await scanRepository(scan, path, repository, { control, scanInner: inner });
    return true;
  };
  const outer = await repositoryOf(root, control);
  if (outer !== undefined) await scanRepository(scan, "", outer, { control, scanInner: inner });
  else await scanDirectory(scan, "", { control, excluded, scanRepository: inner });
  return scan;
}

async function repositoryOf(root: BytePath, control: JobControl): Promise<GitRepository | undefined> {
  const repository = findRepository(root);
  // Who names a folder that an outer checkout ignores wants what is in it.
  return repository !== undefined && (await isIgnored(root, repository, control.signal)) ? undefined : repository;
}

function realFolder(path: BytePath): BytePath {
  try {
    return toBytePath(realpathSync(toFs(path), { encoding: "buffer" }));
  } catch (error) {
    throw sourceFailure(path, error);
  }
}

function realOr(path: BytePath): BytePath {
  try {
    return realFolder(path);
  } catch {
    return path; // not made yet
  }
}
