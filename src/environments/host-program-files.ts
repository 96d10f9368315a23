import { constants, type Stats } from "node:fs";
import { chmod, copyFile, lchown, link, lstat, mkdir, readlink, symlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { walkTree } from "../base/walk-tree.ts";
import type { BuildContext } from "./definition.ts";

/** Bits that a file of a program may not have where the sandbox gets the host's own inode: another identity, and others who could change it. */
const UNWANTED = 0o7022;

/**
 * Takes a program of the host, a file or a folder, into a folder: as further names of the same files, so that nothing is copied, where the file system and the files'
 * rights allow it.
 *
 * SECURITY: of the host nothing but the program's own files: of links only those that stay in its folder, of everything else only files and folders (G-77)
 */
export async function takeHostFiles(from: string, to: string, context: BuildContext): Promise<void> {
  const own = await lstat(from);
  if (!own.isDirectory()) {
    await takeFile(from, join(to, basename(from)), own, context);
    return;
  }
  for await (const { path, stats } of walkTree(from)) {
    context.signal?.throwIfAborted();
    const target = join(to, relative(from, path));
    if (stats.isDirectory()) await makeFolder(target, context);
    else if (stats.isSymbolicLink()) await takeLink(from, path, target, context);
    else if (stats.isFile()) await takeFile(path, target, stats, context);
  }
}

async function makeFolder(target: string, context: BuildContext): Promise<void> {
  await mkdir(target, { mode: 0o755 });
  await chmod(target, 0o755);
  await own(target, context);
}

async function takeLink(root: string, path: string, target: string, context: BuildContext): Promise<void> {
  const to = await readlink(path);
  const way = relative(root, join(dirname(path), to));
  if (to.startsWith("/") || way === ".." || way.startsWith("../")) return;
  await symlink(to, target);
  await own(target, context);
}

async function takeFile(path: string, target: string, { mode }: Stats, context: BuildContext): Promise<void> {
  const wanted = mode & 0o111 ? 0o755 : 0o644;
  if ((mode & UNWANTED) === 0 && (mode & 0o555 & wanted) === (0o555 & wanted) && (await isLinked(path, target))) return;
  await copyFile(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, wanted);
  await own(target, context);
}

/** Not over the border of a file system, and not for a file of somebody else's. */
async function isLinked(path: string, target: string): Promise<boolean> {
  try {
    await link(path, target);
    return true;
  } catch (error) {
    if (["EXDEV", "EPERM", "EMLINK", "EACCES"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

async function own(target: string, { idMap }: BuildContext): Promise<void> {
  const { uid, gid } = idMap.toHost(0, 0);
  await lchown(target, uid, gid);
}
