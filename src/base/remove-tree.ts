import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf } from "./errors.ts";
import type { FolderIdentity } from "./folder-identity.ts";
import { startRole } from "./starter.ts";

/** Thrown instead of removing anything when a file system is mounted at or below the path. */
export class TreeIsMounted extends Error {
  readonly mounts: readonly string[];

  constructor(path: string, mounts: readonly string[]) {
    super(`Cannot remove "${path}": something is mounted at ${mounts.map((mount) => `"${mount}"`).join(", ")}`);
    this.name = "TreeIsMounted";
    this.mounts = mounts;
  }
}

/** Thrown instead of removing anything when it is not this user's to remove. */
export class TreeIsForeign extends Error {
  constructor(path: string, reason: string) {
    super(`Cannot remove "${path}": ${reason}`);
    this.name = "TreeIsForeign";
  }
}

const EXIT_MOUNTED = 3;
const EXIT_FOREIGN = 4;

export interface RemoveOptions {
  /** What has to be there: somebody else may be able to put another thing in its place. */
  readonly is?: FolderIdentity | undefined;
}

/**
 * Removes a file or a whole folder; a path that is not there is fine. A link is removed, never what it points to.
 * Throws `TreeIsMounted` and removes nothing when anything is mounted at or below the path in this process's mount namespace, and `TreeIsForeign` when it
 * belongs to another user and is where others get by a path.
 */
export async function removeTree(path: string, options: RemoveOptions = {}): Promise<void> {
  const target = await requireNoMounts(path);
  if (target !== undefined) await walk(target, options);
}

/** Throws `TreeIsMounted` when anything is mounted at or below the path. Gives where it really is; undefined when the folder that it would be in is not there. */
export async function requireNoMounts(path: string): Promise<string | undefined> {
  // Only the parent is resolved: when the last part is a link, the link is what goes.
  const absolute = resolve(path);
  let parent: string;
  try {
    parent = await realpath(dirname(absolute));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const target = join(parent, basename(absolute));
  // SECURITY: a bind mount left below would have the host's own files removed through it (G-16)
  const mounts = mountsBelow(target, await readFile("/proc/self/mountinfo", "utf8"));
  if (mounts.length > 0) throw new TreeIsMounted(target, mounts);
  return target;
}

/**
 * SECURITY: by a program that holds every folder open on its way, because Node has only paths: a user who may rename or link in the tree, or above it, could
 * make it remove something else (G-16, G-24).
 */
async function walk(target: string, { is }: RemoveOptions): Promise<void> {
  const words = ["remove", ...(is ? ["--is", `${is.device}:${is.inode}`] : []), dirname(target), basename(target)];
  let said = "";
  const { ended } = await startRole(words, { onStatus: (text) => (said = (said + text).slice(-500)) });
  const code = await ended;
  if (code === 0) return;
  if (code === EXIT_MOUNTED) throw new TreeIsMounted(target, [target]);
  if (code === EXIT_FOREIGN) throw new TreeIsForeign(target, said.trim());
  throw new Error(`Cannot remove "${target}": ${said.trim() || "the program that removes it was ended"}`);
}

/** The mount points at or below `path`, from the text of a `mountinfo` file. */
export function mountsBelow(path: string, mountinfo: string): string[] {
  const prefix = path.endsWith("/") ? path : `${path}/`;
  return mountinfo
    .split("\n")
    .map((line) => unescapeOctal(line.split(" ")[4] ?? ""))
    .filter((mount) => mount === path || mount.startsWith(prefix));
}

/** The kernel writes blanks, newlines and backslashes of a path as `\ooo`, byte by byte; other bytes as they are. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
