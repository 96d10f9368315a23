import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  type Stats,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { ClocheError, errnoOf, isClocheError } from "./errors.ts";

/** As many as the kernel follows. */
const MAX_LINKS = 40;
const STICKY = 0o1000;

/** Makes a folder that nobody else can look into or change, or makes it so when it is this user's own. Throws a `ClocheError` when it is not. */
export function makePrivateFolder(path: string): void {
  requireOwnFolder(path); // first, so that nothing is made in a place that is not to be trusted
  // SECURITY: the mode holds whatever the umask is, and from the first moment (G-14, G-24)
  makeMissing(path);
  const found = requireOwnFolder(path);
  if (!found || (found.stats.mode & 0o077) === 0) return;
  // SECURITY: what others could write to may hold what they have put there: a program, a link, a socket (G-24)
  const wasOpen = isWritable(found.stats);
  chmodSync(found.path, 0o700);
  if (!wasOpen || readdirSync(found.path).length === 0) return;
  chmodSync(found.path, found.stats.mode & 0o7777); // so that the next try tells it again
  throw refusal(path, "other users can write to it", `Look through it, then close it: chmod 700 ${found.path}`);
}

/** Not by `recursive`: Node tries for ever where the kernel makes no folders, as below /proc. */
function makeMissing(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) === "EEXIST" && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (errnoOf(error) !== "ENOENT" || existsSync(parent)) throw error;
    makeMissing(parent);
    makeMissing(path);
  }
}

/** Throws a `ClocheError` when a folder is not this user's alone; one that is not there is fine. */
export function requirePrivateFolder(path: string): void {
  const found = requireOwnFolder(path);
  if (found && isWritable(found.stats))
    throw refusal(path, "other users can write to it", `Look through it, then close it: chmod 700 ${found.path}`);
}

/** Whether nobody else can rename or replace what is this user's own in a folder. */
export function keepsNames(folder: string): boolean {
  try {
    const found = walkTo(folder);
    if (found) requireTrusted(folder, found);
    return found !== undefined;
  } catch (error) {
    if (isClocheError(error)) return false;
    throw error;
  }
}

interface Found {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * SECURITY: a user who owns a folder, or can rename in one on the way to it, can put another in its place. So each has to be root's or this user's, and no
 * other user may write to it. In a sticky one, as `/tmp` is, nobody can rename what is another's (G-24).
 */
function walkTo(path: string): Found | undefined {
  let at: Found = { path: "/", stats: lstatSync("/") };
  let links = 0;
  for (const rest = partsOf(path); rest.length > 0;) {
    requireTrusted(path, at);
    const name = rest.shift() ?? "";
    if (name === "..") {
      at = look(dirname(at.path)) ?? at;
      continue;
    }
    const next = look(join(at.path, name));
    if (!next) return undefined;
    if (!next.stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    if (isWritable(at.stats) && !isOwn(next.stats.uid)) throw refusal(path, `"${next.path}" belongs to another user`);
    if (++links > MAX_LINKS) throw refusal(path, "it leads through too many links");
    const target = readlinkSync(next.path);
    rest.unshift(...partsOf(target));
    if (isAbsolute(target)) at = { path: "/", stats: lstatSync("/") };
  }
  return at;
}

/** Undefined when it is not there. */
function requireOwnFolder(path: string): Found | undefined {
  const found = walkTo(path);
  if (!found) return undefined;
  if (found.stats.uid !== process.geteuid?.()) throw refusal(path, "it belongs to another user");
  if (!found.stats.isDirectory()) throw refusal(path, "it is not a folder");
  return found;
}

function requireTrusted(path: string, { path: folder, stats }: Found): void {
  if (!isOwn(stats.uid)) throw refusal(path, `"${folder}" belongs to another user`);
  if (isWritable(stats) && (stats.mode & STICKY) === 0) throw refusal(path, `other users can write to "${folder}"`);
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");

function look(path: string): Found | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { path, stats };
}

const isOwn = (uid: number): boolean => uid === 0 || uid === process.geteuid?.() || isUnmapped(uid);

/** By somebody who is neither root nor this user. A group of the user's own has, as is usual, nobody else in it. */
const isWritable = ({ mode, gid }: Stats): boolean =>
  (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0 && gid !== process.getegid?.());

/** In a user namespace that has no root, root's folders show as those of one id that stands for all others. */
let unmappedId: number | undefined | "unknown" = "unknown";
function isUnmapped(uid: number): boolean {
  if (unmappedId === "unknown") {
    const isWhole = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "latin1"));
    unmappedId = isWhole ? undefined : Number(readFileSync("/proc/sys/kernel/overflowuid", "latin1"));
  }
  return uid === unmappedId;
}

const refusal = (
  path: string,
  reason: string,
  hint = "Set CLOCHE_HOME (or CLOCHE_CACHE) to a folder of your own, below folders that only you or root can write to",
) => new ClocheError("DAEMON_UNREACHABLE", `Cannot use the folder "${path}": ${reason}`, hint);
