import { constants } from "node:fs";
import { lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, posix, sep } from "node:path";
import { errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import { createTreeItem, type TreeItem } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";

/** What a skill may hold. It is text and a few scripts; what is larger is something else. */
const MAX_FILES = 20_000;
const PIECE_BYTES = 256 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;

/** A skill of the host, looked through before anything is made. */
export interface Skill {
  readonly name: string;
  /** Without links on the way. */
  readonly path: string;
}

const usualFolder = (): string => join(homedir(), ".claude", "skills");

/** Finds each, in the order they were named. A missing one is an error with its name. */
export async function findSkills(names: readonly string[], folder = usualFolder()): Promise<Skill[]> {
  const found: Skill[] = [];
  for (const name of names) {
    const skill = { name, path: await findSkill(name, folder) };
    await lookThrough(skill);
    found.push(skill);
  }
  return found;
}

/** Throws for what cannot be copied. */
async function lookThrough(skill: Skill): Promise<void> {
  const items = skillItems(skill);
  while (!(await items.next()).done) continue;
}

async function findSkill(name: string, folder: string): Promise<string> {
  const path = join(folder, name);
  const hint = `Put it there, take it out of the agent's skills, or set CLOCHE_SKILLS_DIR to the folder that has it`;
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    const why = errnoOf(error) === "ENOENT" ? "" : `: ${messageOf(error)}`;
    throw failure("SKILL_NOT_FOUND", `There is no skill "${name}" in "${folder}"${why}`, { hint });
  }
  // SECURITY: a name in an agent's file, which a repository may bring, leads to nothing outside of the folder of skills (G-67)
  if (!real.startsWith(`${await realpath(folder)}${sep}`))
    throw failure("SKILL_INVALID", `Skill "${name}" is a link that leads out of "${folder}"`, {
      hint: "Copy the folder there, or set CLOCHE_SKILLS_DIR to the folder that holds it",
    });
  if ((await lstat(real)).isDirectory()) return real;
  throw failure("SKILL_INVALID", `Skill "${name}" is no folder`, { hint });
}

/** What is in it, on its way into a sandbox. Throws for what a skill may not hold, and when it changes meanwhile. */
export async function* skillItems({ name, path }: Skill): AsyncGenerator<TreeItem> {
  let files = 0;
  let bytes = 0;
  try {
    for await (const item of itemsBelow(path, "")) {
      bytes += item.size;
      if (item.type !== "directory" && ++files > MAX_FILES)
        throw failure("SKILL_INVALID", `Skill "${name}" has more than ${MAX_FILES} files`);
      if (bytes > MAX_BYTES)
        throw failure("SKILL_INVALID", `Skill "${name}" has more than ${MAX_BYTES / 1024 / 1024} MiB`);
      // SECURITY: a link is copied as one, and one that leads out would lead to another place there (G-67)
      if (item.linkTarget !== null && leadsOut(item.path, item.linkTarget))
        throw failure("SKILL_INVALID", `"${item.path}" in skill "${name}" is a link that leads out of the skill`);
      yield item.content ? { ...item, content: readable(name, item.content) } : item;
    }
  } catch (error) {
    throw cannotCopy(name, error);
  }
}

/** What goes wrong while the content is read is the skill's too. */
async function* readable(name: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    throw cannotCopy(name, error);
  }
}

function cannotCopy(name: string, error: unknown): Error {
  if (isClocheError(error)) return error;
  return failure("SKILL_INVALID", `Skill "${name}" cannot be copied: ${messageOf(error)}`, {
    hint: "Start the run again when nobody changes the skill",
    cause: error,
  });
}

const leadsOut = (path: string, target: string): boolean =>
  posix.isAbsolute(target) || /^\.\.(\/|$)/.test(posix.normalize(posix.join(posix.dirname(path), target)));

/** Parents first, in the order of their names. Links are not followed; what is no file, folder or link is left out. */
async function* itemsBelow(root: string, folder: string): AsyncGenerator<TreeItem> {
  for (const name of (await readdir(join(root, folder))).sort()) {
    const path = posix.join(folder, name);
    const host = join(root, path);
    const stat = await lstat(host, { bigint: true });
    const entry = { path, mode: Number(stat.mode & 0o777n), mtimeNs: stat.mtimeNs };
    if (stat.isDirectory()) {
      yield createTreeItem({ ...entry, type: "directory" });
      yield* itemsBelow(root, path);
    } else if (stat.isSymbolicLink())
      yield createTreeItem({ ...entry, type: "symlink", linkTarget: await readlink(host) });
    else if (stat.isFile())
      yield createTreeItem({ ...entry, type: "file", size: Number(stat.size), content: contentOf(host) });
  }
}

async function* contentOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  // It closes the file at its end, and when it is left.
  for await (const piece of file.createReadStream({ highWaterMark: PIECE_BYTES })) yield piece as Buffer;
}
