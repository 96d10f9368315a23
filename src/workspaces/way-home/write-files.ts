import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, type PathLike } from "node:fs";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, isClocheError, messageOf } from "../../base/errors.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { failure } from "../../model/error-codes.ts";
import { quoted, type ByteText } from "../../policy/byte-text.ts";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import { foldersAbove } from "../read-named-files.ts";
import { inCheckout } from "./host-states.ts";

/** What a path of the checkout becomes, and what it was when that was decided. */
export interface FileChangeHere {
  readonly path: ByteText;
  readonly was: HomeState | undefined;
  readonly becomes: HomeState | undefined;
}

/** Of this name, beside what it replaces: nothing else of the checkout is called so. */
const STAGE = ".cloche-apply-";

/**
 * Changes files of a checkout, all of them or none. All that is new is on the disk before the first file is replaced, each by one step; what fails in between is
 * taken back. All that goes was committed, so that git has it whatever happens.
 */
export async function writeFiles(top: string, changes: readonly FileChangeHere[]): Promise<void> {
  const stage = join(top, `${STAGE}${randomBytes(6).toString("hex")}`);
  await removeLeftStages(top);
  const done: FileChangeHere[] = [];
  try {
    await fs.mkdir(stage, { mode: 0o700 });
    const staged = new Map<FileChangeHere, string>();
    for (const [index, change] of changes.entries()) {
      if (!change.becomes) continue;
      const file = join(stage, String(index));
      await writeState(file, change.becomes, await modeOf(top, change));
      staged.set(change, file);
    }
    // What goes makes room for folders; links come last, so that none is on the way to anything.
    const order = (one: FileChangeHere) => (!one.becomes ? 0 : one.becomes.type === "file" ? 1 : 2);
    for (const change of [...changes].sort((one, other) => order(one) - order(other))) {
      done.push(change);
      await put(top, change, staged.get(change));
    }
    await removeEmptied(top, changes);
  } catch (error) {
    for (const change of done.reverse()) await takeBack(top, change, stage).catch(() => undefined);
    throw toFailure(error, top);
  } finally {
    await removeTree(stage);
  }
}

/** Of one that was killed. */
async function removeLeftStages(top: string): Promise<void> {
  for (const name of await fs.readdir(top)) {
    if (!/^\.cloche-apply-[0-9a-f]{12}$/.test(name)) continue;
    const { mtimeMs } = await fs.lstat(join(top, name));
    if (Date.now() - mtimeMs > 3_600_000) await removeTree(join(top, name));
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

async function put(top: string, { path, was, becomes }: FileChangeHere, staged: string | undefined): Promise<void> {
  const place = inCheckout(top, path);
  await requireUnchanged(place, path, was);
  if (!becomes || staged === undefined) {
    await fs.unlink(place);
    return;
  }
  for (const folder of foldersAbove(path)) await makeFolder(inCheckout(top, folder), path);
  await fs.rename(staged, place);
}

/** SECURITY: what somebody else has written since it was looked at is not written over (G-79). */
async function requireUnchanged(place: Buffer, path: ByteText, was: HomeState | undefined): Promise<void> {
  const found: BigIntStats | undefined = await fs.lstat(place, { bigint: true }).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  });
  const isThere = found !== undefined;
  const isSameKind = !found || !was || (was.type === "file" ? found.isFile() : found.isSymbolicLink());
  const isSameSize = !found || was?.type !== "file" || Number(found.size) === was.content.length;
  if (isThere === (was !== undefined) && isSameKind && isSameSize) return;
  throw failure("APPLY_CONFLICT", `${quoted(path)} was changed meanwhile`, {
    hint: "Try again when nothing else writes to the checkout",
  });
}

async function makeFolder(place: Buffer, path: ByteText): Promise<void> {
  try {
    await fs.mkdir(place);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    if (!(await fs.lstat(place)).isDirectory())
      throw failure("APPLY_CONFLICT", `A link or a file is on the way to ${quoted(path)}`, {
        hint: "Try again when nothing else writes to the checkout",
      });
  }
}

/** As git does: a folder that lost its last file goes too. */
async function removeEmptied(top: string, changes: readonly FileChangeHere[]): Promise<void> {
  const candidates = new Set(changes.flatMap(({ path, becomes }) => (becomes ? [] : foldersAbove(path))));
  for (const folder of [...candidates].sort((one, other) => other.length - one.length))
    await fs.rmdir(inCheckout(top, folder)).catch(() => undefined); // not empty
}

async function takeBack(top: string, { path, was }: FileChangeHere, stage: string): Promise<void> {
  const place = inCheckout(top, path);
  if (!was) {
    await fs.unlink(place);
    return;
  }
  const file = join(stage, `back-${randomBytes(6).toString("hex")}`);
  await writeState(file, was, was.isExecutable ? 0o755 : 0o644);
  await fs.rename(file, place);
}

function toFailure(error: unknown, top: string): unknown {
  if (isClocheError(error)) return error;
  const code = errnoOf(error);
  if (code === "ENOSPC" || code === "EDQUOT")
    return failure("DISK_FULL", `Cannot write to "${top}": no space is left`, { cause: error });
  return failure("CHECKOUT_INVALID", `Cannot write to "${top}": ${messageOf(error)}; nothing was changed`, {
    hint: "Check the permissions of the checkout",
    cause: error,
  });
}
