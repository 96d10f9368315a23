import { constants } from "node:fs";
import { access, lstat, realpath, stat } from "node:fs/promises";
import { errnoOf } from "../base/errors.ts";
import { isInside } from "../base/exact-path.ts";
import { failure } from "../model/error-codes.ts";
import type { ReadScope } from "../model/read-scope.ts";

/**
 * SECURITY: of a caller that may read a part of the host, the path has to be in that part, with no link on the way (G-23). The import looks again at what it
 * has opened.
 */
export async function checkScope(path: string, { root }: ReadScope): Promise<void> {
  const real = await realpath(path).catch(() => path); // what is not there is told by who looks for it
  if (real !== path || !isInside(path, root)) throw outsideScope(path, root);
}

export function outsideScope(path: string, root: string): Error {
  return failure(
    "HOST_ACCESS_REFUSED",
    `Cannot read "${path}": it, or where a link on it leads, is not below "${root}"`,
    {
      hint: `Name something below it, or ask the operator for --allow-read ${path}`,
    },
  );
}

export function notSeeded(path: string, root: string): Error {
  return failure(
    "HOST_ACCESS_REFUSED",
    `Cannot read "${path}": it is no part of the seed of "${root}": git ignores it, or keeps it for itself`,
    {
      hint: `Name something that git does not ignore, or ask the operator for --allow-read ${path}`,
    },
  );
}

/** What kind of thing a path names to be copied into a workspace that is there; fails with what is wrong about it. */
export async function sourceKindOf(path: string, asItIs: boolean): Promise<SourceKind> {
  const own = await lstat(path).catch(() => undefined); // what is not there is told below
  if (asItIs && own?.isSymbolicLink()) return "symlink";
  const found = own?.isSymbolicLink() ? await stat(path).catch(() => undefined) : own;
  if (!found?.isFile() || (!asItIs && isArchive(path))) return seedKindOf(path);
  try {
    await access(path, constants.R_OK);
  } catch {
    throw failure("SEED_UNREADABLE", `Cannot read "${path}": permission denied`, { details: { path } });
  }
  return "file";
}

const isArchive = (path: string): boolean => /\.(tar|tar\.gz|tgz)$/i.test(path);

export type SourceKind = "directory" | "tar_archive" | "file" | "symlink";

/** What kind of seed a path names; fails with what is wrong about it. */
export async function seedKindOf(path: string): Promise<"directory" | "tar_archive"> {
  let real: string;
  try {
    real = await realpath(path);
    const found = await stat(real);
    // SECURITY: the whole host is no project, and holds every secret there is (G-01)
    if (real === "/") throw failure("SEED_INVALID", `Cannot import "${path}": it is the root of the host`);
    if (found.isDirectory()) {
      await access(real, constants.R_OK | constants.X_OK);
      return "directory";
    }
    if (!found.isFile())
      throw failure("SEED_INVALID", `Cannot import "${path}": it is neither a folder nor an archive`);
    if (!isArchive(path)) {
      throw failure("SEED_INVALID", `Cannot import "${path}": it is a file, but no .tar, .tar.gz or .tgz archive`);
    }
    await access(real, constants.R_OK);
    return "tar_archive";
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR")
      throw failure("SEED_NOT_FOUND", `Cannot import "${path}": it does not exist`);
    if (code === "ELOOP") throw failure("SEED_INVALID", `Cannot import "${path}": it is a link to itself`);
    if (code === "EACCES" || code === "EPERM") {
      throw failure("SEED_UNREADABLE", `Cannot read "${path}": permission denied`, { details: { path } });
    }
    throw error;
  }
}
