import { constants, openSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { readOpenFile } from "../base/read-plain-file.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * Whether a repository that the `.git` file of a folder names has that folder as its checkout. All paths are absolute, with one byte a character (latin1).
 * SECURITY: such a file in a folder from elsewhere could name any repository of the host (G-01, G-140). The repository itself must name the folder
 */
export function pointsBack(folder: string, gitDir: string, commonDir: string): boolean {
  const own = real(folder);
  if (own === undefined) return false;
  if (gitDir !== commonDir) {
    const back = read(join(gitDir, "gitdir"))?.trimEnd();
    const isListed = dirname(gitDir) === join(commonDir, "worktrees");
    if (!isListed || back === undefined || basename(back) !== ".git") return false;
    return real(dirname(absolute(gitDir, back))) === own;
  }
  const workTree = read(join(gitDir, "config"))?.match(/^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/im)?.[1];
  return workTree !== undefined && real(absolute(gitDir, workTree)) === own;
}

/** Undefined for what is not there, no ordinary file or not to be read: it names nobody. */
function read(path: string): string | undefined {
  try {
    const fd = openSync(Buffer.from(path, "latin1"), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return readOpenFile(fd, MAX_BYTES).toString("latin1");
  } catch {
    return undefined;
  }
}

const absolute = (base: string, path: string): string => (isAbsolute(path) ? path : join(base, path));

function real(path: string): string | undefined {
  try {
    return realpathSync(Buffer.from(path, "latin1"), { encoding: "buffer" }).toString("latin1");
  } catch {
    return undefined; // not there, or not to be seen
  }
}
