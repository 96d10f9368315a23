import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import type { IgnoreRepository, IgnoreSources } from "../policy/ignore-rules.ts";
import { joined, parentOf, toFs, type BytePath } from "./byte-path.ts";
import type { GitRepository } from "./git-repository.ts";

export const IGNORE_FILE = ".gitignore";
/** Of all ignore files of a project; those of real ones have a few thousand bytes. */
const MAX_BYTES = 2 * 1024 * 1024;

type IgnoreList = IgnoreRepository["lists"][number];

/** What the user and the repository say about all of a work tree, seen from one of its folders; the strongest first, as git has it. */
export function listsOf(
  repository: GitRepository,
  folder: BytePath,
  userFile: BytePath | undefined,
): readonly IgnoreList[] {
  const prefix = below(repository.workTree, folder);
  const files = [joined(repository.commonDir, "info/exclude"), ...(userFile === undefined ? [] : [userFile])];
  return [
    ...listsAbove(repository.workTree, folder),
    ...files.flatMap((path) => textOf(path, 0).map((text) => ({ prefix, text }))),
  ];
}

/** Of the folders above one, up to the work tree's top: the nearest is the strongest. */
export function listsAbove(workTree: BytePath, folder: BytePath): IgnoreList[] {
  const lists: IgnoreList[] = [];
  for (let at = folder; at !== workTree && at !== "";) {
    at = parentOf(at);
    const prefix = below(at, folder);
    // As git: one that is a link is not followed.
    for (const text of textOf(joined(at, IGNORE_FILE), constants.O_NOFOLLOW)) lists.push({ prefix, text });
  }
  return lists;
}

/** From a folder to one below it, with a slash at the end; empty when they are the same. */
export const below = (top: BytePath, folder: BytePath): BytePath =>
  folder === top ? "" : `${folder.slice(top === "" ? 0 : top.length + 1)}/`;

/** The rules of a project whose tree has been written. Nobody but this program has written to it. */
export function readIgnoreSources(
  tree: BytePath,
  paths: readonly BytePath[],
  repositories: readonly IgnoreRepository[],
): IgnoreSources {
  const files = paths.flatMap((path) =>
    textOf(joined(tree, path), constants.O_NOFOLLOW).map((text) => ({ folder: parentOf(path), text })),
  );
  const texts = [...files, ...repositories.flatMap(({ lists }) => lists)];
  const bytes = texts.reduce((total, { text }) => total + text.length, 0);
  // Part of them would not do: what is left out may be what shows something.
  return bytes > MAX_BYTES ? { files: [], repositories: [] } : { files, repositories };
}

/** One byte a character; nothing for what is no file, or cannot be read: git goes on without it. */
function textOf(path: BytePath, flags: number): string[] {
  let fd: number;
  try {
    fd = openSync(toFs(path), constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch {
    return [];
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > 2 * MAX_BYTES) return [];
    return [readFileSync(fd).toString("latin1")];
  } finally {
    closeSync(fd);
  }
}
