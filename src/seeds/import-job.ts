import * as fs from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { isExactly } from "../base/exact-path.ts";
import { failure } from "../model/error-codes.ts";
import type { ReadScope } from "../model/read-scope.ts";
import { shown, toBytePath, type BytePath } from "./byte-path.ts";
import { copyScan } from "./copy-scan.ts";
import { compareContent, digestOf, isFresh, type FreshFile } from "./fresh-files.ts";
import { readIgnoreSources } from "./ignore-sources.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import { partOfScan } from "./part-of-scan.ts";
import { scanSource } from "./scan-source.ts";
import type { Scan } from "./scan.ts";
import { SeedCache } from "./seed-cache.ts";
import { cacheFailure, SourceChanged, sourceFailure } from "./seed-errors.ts";
import { ownerLine, seedKey, type TreeOwner } from "./seed-key.ts";
import { notSeeded, outsideScope } from "./seed-source.ts";
import type { TreeWriter } from "./tree-writer.ts";
import { writeGitFolder } from "./write-git-folder.ts";

export interface ImportRequest {
  readonly cachePath: string;
  /** Absolute, and checked to be of that kind. */
  readonly seedPath: string;
  readonly kind: "directory" | "tar_archive";
  readonly owner: TreeOwner;
  /** What may be read; the path is in there by its text. */
  readonly scope?: ReadScope | undefined;
}

export interface ImportOutcome {
  readonly tree: string;
  readonly head: string | null;
}

const ATTEMPTS = 3;

/** Scans the source, and copies it unless the cache has that state. Runs beside the daemon's thread, since it never rests. */
export async function runImport(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await (request.kind === "directory" ? importDirectory(request, control) : importArchive(request, control));
    } catch (error) {
      if (!(error instanceof SourceChanged)) throw cacheFailure(error);
      if (attempt === ATTEMPTS) {
        throw failure("SEED_UNREADABLE", `Cannot import "${request.seedPath}": "${shown(error.path)}" keeps changing`, {
          hint: "Stop what writes there, then try again",
          details: { path: shown(error.path) },
        });
      }
    }
  }
}

async function importDirectory(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  control.progress(`Scanning ${request.seedPath}`);
  const scan = await scanFor(request, control);
  tellLeftOut(scan, control);
  const { head, root, ignoring } = scan;
  return findOrBuild(
    request,
    control,
    { key: seedKey(scan, request.owner), head, root, ignoring },
    async (tree, folder) => {
      const fresh = copyScan(scan, tree, control);
      for (const [index, repository] of scan.repositories.entries()) {
        const scratch = join(folder, `objects-${index}`);
        await writeGitFolder(repository, tree, scratch, control);
        fs.rmSync(scratch, { recursive: true });
      }
      return fresh;
    },
  );
}

/** The folder, or as much of a project as is in it. */
async function scanFor(request: ImportRequest, control: JobControl): Promise<Scan> {
  const { seedPath, scope } = request;
  const cachePath = toBytePath(request.cachePath);
  if (scope?.kind !== "project") return scanSource(toBytePath(seedPath), cachePath, control, scope !== undefined);
  const whole = await scanSource(toBytePath(scope.root), cachePath, control, true);
  const part = partOfScan(whole, inProject(seedPath, scope.root));
  // SECURITY: what the project itself does not seed is not seeded by its own name either (G-23)
  if (part === undefined) throw notSeeded(seedPath, scope.root);
  return part;
}

const inProject = (path: string, root: string): BytePath => toBytePath(path.slice(root.length).replace(/^\/+/, ""));

/** SECURITY: the same for an archive, which has to be the very file that the scan found (G-23). */
async function checkArchive(fd: number, request: ImportRequest, control: JobControl): Promise<void> {
  const { seedPath, scope } = request;
  if (scope === undefined) return;
  if (!isExactly(fd, seedPath)) throw outsideScope(seedPath, scope.root);
  if (scope.kind === "folder") return;
  const whole = await scanSource(toBytePath(scope.root), toBytePath(request.cachePath), control, true);
  const found = whole.entries.find(inProject(seedPath, scope.root));
  if (found?.kind !== "file" || found.ino !== fs.fstatSync(fd).ino) throw notSeeded(seedPath, scope.root);
}

async function importArchive(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  const path = toBytePath(request.seedPath);
  const fd = openArchive(request.seedPath);
  try {
    await checkArchive(fd, request, control);
    const before = fs.fstatSync(fd);
    if (!before.isFile()) throw new SourceChanged(path);
    const readMs = Date.now();
    const key = archiveKey(fd, before, request.owner);
    return await findOrBuild(request, control, { key, head: null, root: path, ignoring: [] }, async (tree) => {
      const { unpackArchive } = await import("./unpack-archive.ts");
      await unpackArchive(fd, request.seedPath, tree, control);
      const after = fs.fstatSync(fd);
      if (after.ctimeMs !== before.ctimeMs || after.size !== before.size) throw new SourceChanged(path);
      return isFresh(before.ctimeMs, readMs) ? [{ path: "", sha256: digestOf(path) }] : [];
    });
  } finally {
    fs.closeSync(fd);
  }
}

/** `build` fills the tree and returns the files that were fresh when it read them. */
async function findOrBuild(
  request: ImportRequest,
  control: JobControl,
  { key, head, root, ignoring }: Pick<Scan, "head" | "root" | "ignoring"> & { readonly key: string },
  build: (tree: TreeWriter, folder: string) => Promise<FreshFile[]>,
): Promise<ImportOutcome> {
  const cache = new SeedCache(request.cachePath, request.owner);
  for (let variant = 0; ; variant += 1) {
    // Two states that differ within the clock's grain have the same key; the second is kept beside the first.
    const name = variant === 0 ? key : `${key}-${variant}`;
    const record = cache.find(name);
    if (record !== undefined) {
      const content = compareContent(root, record.fresh);
      if (content === "different") continue;
      if (content === "settled" && record.fresh.length > 0) cache.settle(name, record);
      return { tree: cache.tree(name), head: record.head };
    }
    const { folder, tree } = cache.begin();
    try {
      const fresh = await build(tree, folder);
      checkAborted(control);
      tree.finish();
      const ignore = readIgnoreSources(tree.root, [...tree.ignoreFiles], ignoring);
      if (cache.publish(folder, name, { head, fresh, ignore })) return { tree: cache.tree(name), head };
      variant -= 1; // somebody else was first; look at theirs
    } catch (error) {
      cache.discard(folder);
      throw error;
    }
  }
}

function openArchive(path: string): number {
  try {
    return fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    throw sourceFailure(toBytePath(path), error);
  }
}

function archiveKey(fd: number, stat: fs.Stats, owner: TreeOwner): string {
  const part = Buffer.alloc(65_536);
  const digest = createHash("sha256").update(ownerLine(owner));
  digest.update(`tar ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}\n`);
  for (const at of [0, Math.max(0, stat.size - part.length)]) {
    digest.update(part.subarray(0, fs.readSync(fd, part, 0, part.length, at)));
  }
  return digest.digest("hex").slice(0, 40);
}

function tellLeftOut(scan: Scan, control: JobControl): void {
  const count = scan.leftOut.length;
  if (count === 0) return;
  const names = scan.leftOut.slice(0, 3).map((path) => `"${shown(path)}"`);
  control.progress(
    `Left out what is no file, folder or link, or leads elsewhere: ${names.join(", ")}${count > 3 ? ` and ${count - 3} more` : ""}`,
  );
}
