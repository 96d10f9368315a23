import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync } from "node:fs";
import type { FolderIdentity } from "../base/folder-identity.ts";
import { removeTree } from "../base/remove-tree.ts";

/** A private folder that is open: what is written below `path` goes into it, whatever becomes of its name. */
export interface HeldScratch extends AsyncDisposable {
  /** Also for programs that are started meanwhile. */
  readonly path: string;
}

/** Makes a folder and holds it open until it is disposed of, which removes it. Throws the system's error when it cannot be made. */
export function holdScratch(name: string): HeldScratch {
  mkdirSync(name, { mode: 0o700 });
  const fd = openSync(name, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const path = `/proc/${process.pid}/fd/${fd}`;
    const identity = requireOwn(name, fd, path);
    return {
      path,
      [Symbol.asyncDispose]: async () => {
        closeSync(fd);
        await removeTree(name, { is: identity });
      },
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * SECURITY: where others may rename, the name may stand for another folder as soon as it is made: an export would be written into that, or into what a
 * link leads to (G-12, G-24). One that is this user's alone and empty is as good as the one that was made.
 */
function requireOwn(name: string, fd: number, path: string): FolderIdentity {
  const { uid, mode, dev, ino } = fstatSync(fd, { bigint: true });
  const isOwn = uid === BigInt(process.geteuid?.() ?? 0) && (mode & 0o077n) === 0n && readdirSync(path).length === 0;
  if (!isOwn) throw new Error(`somebody has replaced "${name}"`);
  return { device: String(dev), inode: String(ino) };
}
