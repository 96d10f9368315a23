import { constants, type PathLike } from "node:fs";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, isClocheError, messageOf } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import { quoted, type ByteText } from "../../policy/byte-text.ts";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import { foldersAbove } from "../read-named-files.ts";
import type { Checkout } from "./checkout.ts";
import { inCheckout, lookAt } from "./host-states.ts";
import { Stages } from "./stages.ts";

/** What a path of the checkout becomes, and what it was when that was decided. */
export interface FileChangeHere {
  readonly path: ByteText;
  readonly was: HomeState | undefined;
  readonly becomes: HomeState | undefined;
}

/** A change that was made, and all it takes to undo it. */
interface Done {
  readonly change: FileChangeHere;
  /** What was at its place, under another name. */
  readonly kept: string | undefined;
  readonly folders: readonly Buffer[];
}

/**
 * Changes files of a checkout, all of them or none. All that is new is on the disk before the first file is replaced, each by one step; what was there is kept
 * beside it until all is done, and comes back when something fails. All that goes was committed, so that git has it whatever happens.
 */
export async function writeFiles(
  { path: top, gitDir }: Pick<Checkout, "path" | "gitDir">,
  changes: readonly FileChangeHere[],
): Promise<void> {
  const stages = new Stages(top, gitDir);
  const done: Done[] = [];
  let stage: string | undefined;
  try {
    await stages.removeLeft();
    stage = await stages.make();
    const staged = new Map<FileChangeHere, string>();
    for (const [index, change] of changes.entries()) {
      if (!change.becomes) continue;
      const file = join(stage, String(index));
      await writeState(file, change.becomes, await modeOf(top, change));
      staged.set(change, file);
    }
    // What goes makes room for folders; links come last, so that none is on the way to anything.
    const order = (one: FileChangeHere) => (!one.becomes ? 0 : one.becomes.type === "file" ? 1 : 2);
    for (const change of [...changes].sort((one, other) => order(one) - order(other)))
      done.push(await put(top, change, staged.get(change), join(stage, `was-${done.length}`)));
    await removeEmptied(top, changes);
  } catch (error) {
    throw toFailure(error, top, await takeAllBack(top, done));
  } finally {
    if (stage !== undefined) await stages.remove(stage);
  }
}

/** As the file had it, but for the one bit that git knows. SECURITY: no other bit comes out of a sandbox (G-79) */
async function modeOf(top: string, { path, was, becomes }: FileChangeHere): Promise<number> {
  // Of a new one as the folder has it: what the user's mask takes from others is taken from them there.
  const { mode } = await fs.lstat(was?.type === "file" ? inCheckout(top, path) : top);
  const kept = was?.type === "file" ? mode & 0o777 : mode & 0o666;
  return becomes?.isExecutable === true ? kept | ((kept & 0o444) >> 2) : kept & ~0o111;
}

async function writeState(file: PathLike, { type, content }: HomeState, mode: number): Promise<void> {
  if (type === "symlink") {
    await fs.symlink(content, file);
    return;
  }
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await fs.open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(content);
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

/** Either it is done, or nothing has changed. */
async function put(top: string, change: FileChangeHere, staged: string | undefined, kept: string): Promise<Done> {
  const { path, was, becomes } = change;
  const place = inCheckout(top, path);
  requireUnchanged(top, change);
  if (was) await keep(place, was, kept);
  const done = { change, kept: was && kept };
  if (!becomes || staged === undefined) {
    await fs.unlink(place);
    return { ...done, folders: [] };
  }
  const folders: Buffer[] = [];
  try {
    for (const folder of foldersAbove(path).map((one) => inCheckout(top, one)))
      if (await makeFolder(folder, path)) folders.push(folder);
    await fs.rename(staged, place);
  } catch (error) {
    await removeFolders(folders);
    throw error;
  }
  return { ...done, folders };
}

/** SECURITY: what somebody else has written since it was looked at is not written over (G-80). */
function requireUnchanged(top: string, { path, was }: FileChangeHere): void {
  const found = lookAt(top, path);
  if ("state" in found && isSame(found.state, was)) return;
  throw failure("APPLY_CONFLICT", `${quoted(path)} was changed meanwhile`, {
    hint: "Try again when nothing else writes to the checkout",
  });
}

function isSame(one: HomeState | undefined, other: HomeState | undefined): boolean {
  if (!one || !other) return one === other;
  return one.type === other.type && one.content.equals(other.content);
}

/** The file itself, under a further name: what comes back has its owner, its times and all of its mode. */
async function keep(place: Buffer, was: HomeState, kept: string): Promise<void> {
  try {
    await fs.link(place, kept);
  } catch (error) {
    if (!["EPERM", "EMLINK", "ENOTSUP", "EXDEV"].includes(errnoOf(error) ?? "")) throw error;
    await writeState(kept, was, (await fs.lstat(place)).mode & 0o777);
  }
}

/** Whether there was none. */
async function makeFolder(place: Buffer, path: ByteText): Promise<boolean> {
  try {
    await fs.mkdir(place);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    if ((await fs.lstat(place)).isDirectory()) return false;
    throw failure("APPLY_CONFLICT", `A link or a file is on the way to ${quoted(path)}`, {
      hint: "Try again when nothing else writes to the checkout",
    });
  }
}

async function removeFolders(folders: readonly Buffer[]): Promise<void> {
  for (const folder of folders.toReversed()) await fs.rmdir(folder).catch(() => undefined); // somebody has put something there
}

/** As git does: a folder that lost its last file goes too. */
async function removeEmptied(top: string, changes: readonly FileChangeHere[]): Promise<void> {
  const candidates = new Set(changes.flatMap(({ path, becomes }) => (becomes ? [] : foldersAbove(path))));
  for (const folder of [...candidates].sort((one, other) => other.length - one.length))
    await fs.rmdir(inCheckout(top, folder)).catch(() => undefined); // not empty
}

/** Gives the paths for which that failed. */
async function takeAllBack(top: string, done: readonly Done[]): Promise<ByteText[]> {
  const left: ByteText[] = [];
  for (const { change, kept, folders } of done.toReversed()) {
    const place = inCheckout(top, change.path);
    try {
      if (kept === undefined) await fs.unlink(place);
      else await fs.rename(kept, place);
      await removeFolders(folders);
    } catch {
      left.push(change.path);
    }
  }
  return left;
}

function toFailure(error: unknown, top: string, left: readonly ByteText[]): unknown {
  if (left.length > 0)
    return failure(
      "CHECKOUT_INVALID",
      `Cannot write to "${top}": ${messageOf(error)}; ${namesOf(left)} could not be taken back`,
      {
        hint: "All of it was committed: `git status` shows it, and `git restore FILE` brings it back",
        cause: error,
      },
    );
  if (isClocheError(error)) return error;
  const code = errnoOf(error);
  if (code === "ENOSPC" || code === "EDQUOT")
    return failure("DISK_FULL", `Cannot write to "${top}": no space is left`, { cause: error });
  return failure("CHECKOUT_INVALID", `Cannot write to "${top}": ${messageOf(error)}; nothing was changed`, {
    hint: "Check the permissions of the checkout",
    cause: error,
  });
}

const SHOWN = 5;

const namesOf = (paths: readonly ByteText[]): string =>
  `${paths.slice(0, SHOWN).map(quoted).join(", ")}${paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ""}`;
