import { failure } from "../model/error-codes.ts";
import { WORKSPACE_ROOT } from "../model/names.ts";
import { quoted, type ByteText } from "./byte-text.ts";
import { unquotePath } from "./unquote-path.ts";

/** A name of a `---` or `+++` line. */
export interface HeaderName {
  /** Undefined for `/dev/null`. */
  readonly name: ByteText | undefined;
  /** Whether a date of 1970 says that there is no file, as `diff -N` does. */
  readonly epoch: boolean;
}

/** `rest` is what follows `--- ` or `+++ `. */
export function parseHeaderName(rest: ByteText): HeaderName {
  const inQuotes = unquotePath(rest);
  const tab = rest.indexOf("\t");
  const end = inQuotes ? inQuotes.end : tab < 0 ? rest.length : tab;
  const name = inQuotes ? inQuotes.path : rest.slice(0, end);
  return { name: name === "/dev/null" ? undefined : name, epoch: isEpoch(rest.slice(end).trim()) };
}

/** The name in a line such as `rename from NAME`. */
export function parseBareName(rest: ByteText): ByteText {
  const inQuotes = unquotePath(rest);
  return inQuotes?.end === rest.length ? inQuotes.path : rest;
}

function isEpoch(stamp: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.0+)? ([-+]\d\d)(\d\d)$/.exec(stamp);
  return match !== null && Date.parse(`${match[1]}T${match[2]}${match[3]}:${match[4]}`) === 0;
}

/** The one path that both names of a `diff --git` line mean; undefined when they differ, as with a rename. */
export function parseGitHeader(rest: ByteText): ByteText | undefined {
  const names = splitGitNames(rest);
  return names && commonPath(...names);
}

function splitGitNames(rest: ByteText): [ByteText, ByteText] | undefined {
  const first = unquotePath(rest);
  if (first) return rest[first.end] === " " ? [first.path, parseBareName(rest.slice(first.end + 1))] : undefined;
  const quote = rest.indexOf(' "');
  if (quote >= 0) return [rest.slice(0, quote), parseBareName(rest.slice(quote + 1))];
  // Blanks in names are not told from the one between them; but the same name twice has it in the middle.
  const middle = (rest.length - 1) / 2;
  return rest[middle] === " " ? [rest.slice(0, middle), rest.slice(middle + 1)] : undefined;
}

/** Prefixes of git: `a/` and `b/`, or letters that tell commit, index, work tree and object. They come in pairs that differ. */
const PREFIX = /^[abciow12]\//;

/** A path that both sides have as it is keeps a first folder that is called `a`. */
function commonPath(oldName: ByteText, newName: ByteText): ByteText | undefined {
  if (oldName === newName) return oldName;
  const prefixed = PREFIX.test(oldName) && PREFIX.test(newName) && oldName[0] !== newName[0];
  return prefixed && oldName.slice(2) === newName.slice(2) ? oldName.slice(2) : undefined;
}

const BACKUP = /(?:\.orig|\.old|\.bak|\.new|~)$/;

/** The path that the names of `---` and `+++` mean when nothing else tells; undefined when they mean two. */
export function plainPath(oldName: ByteText | undefined, newName: ByteText | undefined): ByteText | undefined {
  if (oldName === undefined) return newName?.replace(/^b\//, "");
  if (newName === undefined) return oldName.replace(/^a\//, "");
  const common = commonPath(oldName, newName);
  if (common !== undefined) return common;
  const bare = commonPath(oldName.replace(BACKUP, ""), newName.replace(BACKUP, ""));
  if (bare !== undefined) return bare;
  // `diff -r old new`: the two folders that were compared
  const [oldRest, newRest] = [oldName, newName].map((name) => name.replace(/^[^/]*\//, ""));
  return oldRest === newRest && oldRest !== oldName && newRest !== newName ? oldRest : undefined;
}

/** A path of a patch relative to the workspace. Links are not known here: the guest refuses those that leave, as it walks. */
export function toPatchPath(name: ByteText): ByteText {
  const parts = name.replace(/^\/workspace\//, "").split("/");
  // SECURITY: no path of a patch climbs or starts elsewhere (G-11)
  if ((parts[0] === "" && name !== "") || parts.includes("..")) {
    throw failure("PATH_OUTSIDE_WORKSPACE", `Path ${quoted(name)} of the patch is outside ${WORKSPACE_ROOT}`);
  }
  const path = parts.filter((part) => part !== "" && part !== ".").join("/");
  if (path === "" || name.endsWith("/") || path.includes("\0")) {
    throw failure("PATCH_INVALID", `The patch has a path that names no file: ${quoted(name)}`);
  }
  return path;
}
