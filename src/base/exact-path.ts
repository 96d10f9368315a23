import { closeSync, constants, mkdirSync, openSync, readlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf } from "./errors.ts";

/** Linux's `O_PATH`, which Node has no name for: a place in the tree without the right to read it. */
const O_PATH = 0o10000000;

/** A link is on the way, or something took a name's place meanwhile. */
export class NotExact extends Error {
  constructor(path: string) {
    super(`"${path}" is reached through a link`);
  }
}

/**
 * Opens what has that absolute path itself. The kernel tells where an open file really is, so a link that takes the place of a folder before, during or after
 * the call leads to a refusal and never elsewhere. Throws `NotExact`, or the system error.
 */
export function openExact(path: string, flags: number): number {
  const fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (isExactly(fd, path)) return fd;
  closeSync(fd);
  throw new NotExact(path);
}

/** A folder to work in by `namedIn`, whatever becomes of its own name. */
export const openExactFolder = (path: string): number => openExact(path, O_PATH | constants.O_DIRECTORY);

/** The same for a folder that is made with what is missing of the folders above it. */
export function openMadeFolder(path: string): number {
  try {
    return openExactFolder(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) throw asNotExact(path, error);
  }
  const parent = openMadeFolder(dirname(path));
  try {
    mkdirSync(namedIn(parent, basename(path)));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    closeSync(parent);
  }
  try {
    return openExactFolder(path);
  } catch (error) {
    throw errnoOf(error) === "ENOENT" ? new NotExact(path) : asNotExact(path, error); // a link that leads nowhere
  }
}

/** Whether an absolute path is a folder or below it, by its text. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** A path for a name in an open folder, for this process and those that it starts. */
export const namedIn = (fd: number, name: string): string => `/proc/${process.pid}/fd/${fd}/${name}`;

/** Whether an open file is where that path says, one byte a character where `encoding` is latin1. */
export function isExactly(fd: number, path: string, encoding: "utf8" | "latin1" = "utf8"): boolean {
  return readlinkSync(`/proc/self/fd/${fd}`, { encoding }) === path;
}

/** What `O_NOFOLLOW` and `O_DIRECTORY` say about a link. */
function asNotExact(path: string, error: unknown): unknown {
  const code = errnoOf(error);
  return code === "ELOOP" || code === "ENOTDIR" ? new NotExact(path) : error;
}
