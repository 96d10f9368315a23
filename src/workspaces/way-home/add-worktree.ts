import { constants, lstatSync } from "node:fs";
import * as fs from "node:fs/promises";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import { Checkout } from "./checkout.ts";
import { deleteBranch } from "./commit-branch.ts";

interface WorktreeWanted {
  readonly branch: string;
  readonly commit: string;
  /** Not there yet. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** A new worktree with what the commit has; no hook and no filter runs. The branch goes when that fails. */
export async function addWorktree(checkout: Checkout, wanted: WorktreeWanted): Promise<void> {
  const { branch, commit, folder, signal } = wanted;
  let made: fs.FileHandle | undefined;
  try {
    made = await makeClosed(folder);
    await checkout.must(["worktree", "add", "--quiet", "--no-checkout", folder, branch]);
    await requireSame(made, folder);
    // SECURITY: settings may hold for a branch or for worktrees only, so the filters are listed anew where files are written (G-140)
    const tree = await Checkout.open(folder, signal);
    await tree.must(["read-tree", "--reset", "-u", commit]);
    await requireSame(made, folder);
    await made.chmod(lstatSync(checkout.path).mode & 0o777);
  } catch (error) {
    if (made) {
      await checkout.git(["worktree", "remove", "--force", folder]);
      await fs.rmdir(folder).catch(() => undefined); // git has removed it, or it is somebody else's now
    }
    await deleteBranch(checkout, branch, commit);
    throw error;
  } finally {
    await made?.close();
  }
}

/** SECURITY: ours before git writes there, and closed to all others until all is written (G-143). */
async function makeClosed(folder: string): Promise<fs.FileHandle> {
  try {
    await fs.mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw failure("OUTPUT_EXISTS", `"${folder}" exists`);
    throw failure("OUTPUT_INVALID", `Cannot make "${folder}": ${messageOf(error)}`, { cause: error });
  }
  const handle = await fs.open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const { uid } = await handle.stat();
  if (uid === process.geteuid?.()) return handle;
  await handle.close();
  throw replaced(folder);
}

async function requireSame(made: fs.FileHandle, folder: string): Promise<void> {
  const { dev, ino } = await made.stat();
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.dev !== dev || found.ino !== ino) throw replaced(folder);
}

const replaced = (folder: string) =>
  failure("OUTPUT_INVALID", `Somebody else has replaced "${folder}" meanwhile`, {
    hint: "Choose an output path in a folder that only you can write to",
  });
