import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../model/error-codes.ts";
import { joined, parentOf, shown, toFs, type BytePath } from "./byte-path.ts";
import { runGit, type GitOptions } from "../git/git-command.ts";
import type { JobControl } from "./job-control.ts";
import type { ScannedRepository } from "./scan.ts";
import { sourceFailure } from "./seed-errors.ts";
import type { TreeWriter } from "./tree-writer.ts";

/**
 * Writes a self-contained `.git`. Objects come as one pack of what the refs and the index reach: a blob that was added and taken out
 * again stays home, and linked worktrees and submodules need no case of their own.
 * `scratch` is an empty place for the pack on the same file system.
 */
export async function writeGitFolder(
  repository: ScannedRepository,
  tree: TreeWriter,
  scratch: string,
  control: JobControl,
): Promise<void> {
  const top = joined(repository.path, ".git");
  const folders = new Set<BytePath>();
  const folder = (name: BytePath): void => {
    if (folders.has(name)) return;
    if (name !== "") folder(parentOf(name));
    tree.folder(joined(top, name), 0o755);
    folders.add(name);
  };
  for (const name of ["", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"]) folder(name);
  for (const { name, content } of repository.files) {
    folder(parentOf(name));
    tree.file(joined(top, name), content, 0o644);
  }
  // Its time is kept: git looks into a file that is not older than the index.
  if (repository.index) tree.file(joined(top, "index"), repository.index.content, 0o644, repository.index.mtimeNs);
  tree.room.take(bytesBelow(repository.objects));
  for (const name of await packObjects(repository, scratch, control)) {
    const packed = joined(joined(top, "objects/pack"), name);
    renameSync(join(scratch, "pack", name), toFs(joined(tree.root, packed)));
    tree.adopt(packed, 0o444);
  }
}

/** About what the pack will have: what is stored keeps its form. */
function bytesBelow(folder: BytePath): number {
  let bytes = 0;
  for (const entry of readdirSync(toFs(folder), { encoding: "latin1", withFileTypes: true })) {
    const path = joined(folder, entry.name);
    if (entry.isDirectory()) bytes += bytesBelow(path);
    else bytes += lstatSync(toFs(path), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

/** Packs into `scratch/pack` and returns the names of the files there. */
async function packObjects(repository: ScannedRepository, scratch: string, control: JobControl): Promise<string[]> {
  mkdirSync(join(scratch, "pack"), { recursive: true });
  control.progress(`Packing the history of ${shown(repository.workTree)}`);
  const options = gitOptions(repository, scratch, control.signal);
  const fd = openWorkTree(repository.workTree);
  try {
    const cwd = `/proc/${process.pid}/fd/${fd}`;
    const where = ["--git-dir=.git", "--work-tree=."];
    const asked = await runGit([...where, "cat-file", "--batch-check=%(objectname)", "--buffer"], {
      ...options,
      cwd,
      input: repository.roots.map((hash) => `${hash}\n`).join(""),
    });
    // A ref to an object that is gone is as broken in the copy as it is in the source.
    const present = asked.stdout.toString("latin1").replaceAll(/^.* missing\n/gm, "");
    const args = ["--quiet", "--revs", "--indexed-objects", "--non-empty", "--missing=allow-any", "--window=0"];
    const packed = await runGit([...where, "pack-objects", ...args, join(scratch, "pack", "pack")], {
      ...options,
      cwd,
      input: present,
    });
    if (packed.exitCode !== 0) {
      throw failure("SEED_INVALID", `Cannot read the history of "${shown(repository.workTree)}": ${packed.stderr}`, {
        hint: "Run `git fsck` there and repair what it reports",
      });
    }
    return readdirSync(join(scratch, "pack")).filter((name) => /^pack-.*\.(pack|idx|rev)$/.test(name));
  } finally {
    closeSync(fd);
  }
}

/** Git writes only into the scratch place and reads the source's objects as a borrowed store, so that the source stays untouched. */
function gitOptions(repository: ScannedRepository, scratch: string, signal: AbortSignal): GitOptions {
  return {
    signal,
    env: { GIT_OBJECT_DIRECTORY: scratch, GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(repository.objects) },
  };
}

function openWorkTree(path: BytePath): number {
  try {
    return openSync(toFs(path), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw sourceFailure(path, error);
  }
}

/** As git quotes in C style; a colon would else end the path. */
function quotedPath(path: BytePath): string {
  const escaped = path.replaceAll(/[^ !#-[\]-~]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
  return `"${escaped}"`;
}
