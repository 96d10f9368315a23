import * as fs from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { isExactly } from "../base/exact-path.ts";
import { failure } from "../model/error-codes.ts";
import type { ReadScope } from "../model/read-scope.ts";
import type { Included, LeftOut } from "../model/seed-content.ts";
import { type IncludeRules, SeedInclude } from "../policy/seed-include.ts";
import { shown, toBytePath, type BytePath } from "./byte-path.ts";
import { copyScan } from "./copy-scan.ts";
import { compareContent, digestOf, isFresh, type FreshFile } from "./fresh-files.ts";
import { readIgnoreSources } from "./ignore-sources.ts";
import { IncludedPaths } from "./included-paths.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import { measureLeftOut, shownSecrets } from "./measure-left-out.ts";
import { partOfScan } from "./part-of-scan.ts";
import { scanSource } from "./scan-source.ts";
import type { Scan } from "./scan.ts";
import { SeedCache } from "./seed-cache.ts";
import { cacheFailure, SourceChanged, sourceFailure } from "./seed-errors.ts";
import { ownerLine, seedKey, type TreeOwner } from "./seed-key.ts";
import { scanSingle } from "./scan-single.ts";
import { notSeeded, outsideScope, type SourceKind } from "./seed-source.ts";
import type { TreeWriter } from "./tree-writer.ts";
import { writeGitFolder } from "./write-git-folder.ts";

export interface ImportRequest {
  readonly cachePath: string;
  /** Absolute, and checked to be of that kind. */
  readonly seedPath: string;
  readonly kind: SourceKind;
  readonly owner: TreeOwner;
  /** What may be read; the path is in there by its text. */
  readonly scope?: ReadScope | undefined;
  /** Ignored files that come along. */
  readonly include?: IncludeRules | undefined;
  /** Not to be seeded either, wherever it is. */
  readonly home?: string | undefined;
}

export interface ImportOutcome {
  readonly tree: string;
  readonly head: string | null;
  readonly leftOut: LeftOut | null;
  readonly included: Included | null;
}

type Built = Pick<ImportOutcome, "tree" | "head">;

const ATTEMPTS = 3;

/** Scans the source, and copies it unless the cache has that state. Runs beside the daemon's thread, since it never rests. */
export async function runImport(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await importBy(request, control);
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

function importBy(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  if (request.kind === "directory") return importDirectory(request, control);
  return request.kind === "tar_archive" ? importArchive(request, control) : importSingle(request, control);
}

/** One file or link, in a folder of its own. */
async function importSingle(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  const { seedPath, scope } = request;
  const { scan, real } = scanSingle(seedPath, request.kind === "symlink");
  if (scope !== undefined) {
    // SECURITY: what is copied is the very file that is judged (G-23)
    if (real !== toBytePath(seedPath) || request.kind === "symlink") throw outsideScope(seedPath, scope.root);
    const fd = openArchive(seedPath);
    try {
      await checkArchive(fd, request, control);
    } finally {
      fs.closeSync(fd);
    }
  }
  const build = (tree: TreeWriter) => copyScan(scan, tree, control);
  const built = await findOrBuild(
    request,
    control,
    { key: seedKey(scan, request.owner), head: null, root: scan.root, ignoring: [] },
    build,
  );
  return { ...built, leftOut: null, included: null };
}

async function importDirectory(request: ImportRequest, control: JobControl): Promise<ImportOutcome> {
  control.progress(`Scanning ${request.seedPath}`);
  const asked = request.include && new SeedInclude(asBytes(request.include));
  const scan = await scanFor(request, control, asked);
  tellLeftOut(scan, control);
  const { head, root, ignoring } = scan;
  const built = await findOrBuild(
    request,
    control,
    { key: seedKey(scan, request.owner), head, root, ignoring },
    async (tree, folder) => {
      const fresh = await copyScan(scan, tree, control);
      for (const [index, repository] of scan.repositories.entries()) {
        const scratch = join(folder, `objects-${index}`);
        await writeGitFolder(repository, tree, scratch, control);
        fs.rmSync(scratch, { recursive: true });
      }
      return fresh;
    },
  );
  return { ...built, leftOut: measureLeftOut(scan.root, scan.ignored), included: tellIncluded(request, scan, asked) };
}

/** The folder, or as much of a project as is in it. */
async function scanFor(request: ImportRequest, control: JobControl, asked: SeedInclude | undefined): Promise<Scan> {
  const { seedPath, scope } = request;
  const options = { control, hidden: hiddenBy(request), exact: scope !== undefined };
  if (scope?.kind !== "project") {
    return scanSource(toBytePath(seedPath), { ...options, included: includedPaths(asked, "", scope) });
  }
  const folder = inProject(seedPath, scope.root);
  const whole = await scanSource(toBytePath(scope.root), { ...options, included: includedPaths(asked, folder, scope) });
  const part = partOfScan(whole, folder);
  // SECURITY: what the project itself does not seed is not seeded by its own name either (G-23)
  if (part === undefined) throw notSeeded(seedPath, scope.root);
  return part;
}

/** SECURITY: of a caller that may read a part of the host, whoever decided that has the last word (G-23, G-32). */
function includedPaths(asked: SeedInclude | undefined, base: BytePath, scope: ReadScope | undefined): IncludedPaths {
  if (asked === undefined) return new IncludedPaths([]);
  const rules = [{ include: asked, base }];
  if (scope === undefined) return new IncludedPaths(rules);
  const allowed = new SeedInclude(asBytes({ ignored: scope.kind === "folder", globs: scope.ignored ?? [] }));
  return new IncludedPaths([...rules, { include: allowed, base: "" }]);
}

const asBytes = ({ ignored, globs }: IncludeRules): IncludeRules => ({ ignored, globs: globs.map(toBytePath) });

function tellIncluded({ include }: ImportRequest, scan: Scan, asked: SeedInclude | undefined): Included | null {
  if (include === undefined || asked === undefined) return null;
  const { taken, takenSecrets } = scan.ignored;
  return {
    include_ignored: include.ignored,
    include: [...include.globs],
    is_remembered: false,
    files: taken.files,
    size_bytes: taken.bytes,
    ...shownSecrets(takenSecrets),
    unmatched: asked.unmatched.map(shown),
  };
}

const hiddenBy = ({ cachePath, home }: ImportRequest): BytePath[] =>
  [cachePath, ...(home === undefined ? [] : [home])].map(toBytePath);

const inProject = (path: string, root: string): BytePath => toBytePath(path.slice(root.length).replace(/^\/+/, ""));

/** SECURITY: the same for an archive or a file, which has to be the very file that the scan found (G-23). */
async function checkArchive(fd: number, request: ImportRequest, control: JobControl): Promise<void> {
  const { seedPath, scope } = request;
  if (scope === undefined) return;
  if (!isExactly(fd, seedPath)) throw outsideScope(seedPath, scope.root);
  if (scope.kind === "folder") return;
  const options = { control, hidden: hiddenBy(request), exact: true };
  const whole = await scanSource(toBytePath(scope.root), options);
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
    const built = await findOrBuild(request, control, { key, head: null, root: path, ignoring: [] }, async (tree) => {
      const { unpackArchive } = await import("./unpack-archive.ts");
      await unpackArchive(fd, request.seedPath, tree, control);
      const after = fs.fstatSync(fd);
      if (after.ctimeMs !== before.ctimeMs || after.size !== before.size) throw new SourceChanged(path);
      return isFresh(before.ctimeMs, readMs) ? [{ path: "", sha256: digestOf(path) }] : [];
    });
    return { ...built, leftOut: null, included: null };
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
): Promise<Built> {
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
