import { errnoOf } from "./errors.ts";
import { execFile } from "node:child_process";
import { readFile, realpath, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Thrown instead of removing anything when a file system is mounted at or below the path. */
export class TreeIsMounted extends Error {
  readonly mounts: readonly string[];

  constructor(path: string, mounts: readonly string[]) {
    super(`Cannot remove "${path}": something is mounted at ${mounts.map((mount) => `"${mount}"`).join(", ")}`);
    this.name = "TreeIsMounted";
    this.mounts = mounts;
  }
}

/**
 * Removes a file or a whole folder; a path that is not there is fine. A link is removed, never what it points to.
 * Throws `TreeIsMounted` and removes nothing when anything is mounted at or below the path in this process's mount namespace.
 */
export async function removeTree(path: string): Promise<void> {
  // Only the parent is resolved: when the last part is a link, the link is what goes.
  const absolute = resolve(path);
  let parent: string;
  try {
    parent = await realpath(dirname(absolute));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return;
    throw error;
  }
  const target = join(parent, basename(absolute));
  // SECURITY: a bind mount left below would have the host's own files removed through it (G-16)
  const mounts = mountsBelow(target, await readFile("/proc/self/mountinfo", "utf8"));
  if (mounts.length > 0) throw new TreeIsMounted(target, mounts);
  // SECURITY: rm unlinks links and never enters them (G-16)
  try {
    await rm(target, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    await removeStubborn(target);
  }
}

/**
 * What a sandbox may leave and Node cannot remove: paths longer than the kernel takes at once, names that are not UTF-8, and, for who is not root, folders
 * closed to their own owner, as an overlay's work folder is. The system's own programs walk relative to folders they hold open.
 */
async function removeStubborn(target: string): Promise<void> {
  // SECURITY: neither follows a link it finds on its way, and rm does not cross into another file system (G-16)
  if (process.getuid?.() !== 0) await run("chmod", ["-R", "u+rwX", "--", target]).catch(() => undefined); // what counts is whether rm can
  await run("rm", ["-rf", "--one-file-system", "--", target]);
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
