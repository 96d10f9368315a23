import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { isExactly } from "../base/exact-path.ts";
import { guestProgram } from "../walls/guest-program.ts";
import { joined, shown, toBytePath, toFs, type BytePath } from "./byte-path.ts";
import { copyFiles } from "./copy-files.ts";
import { digestOf, isFresh, type FreshFile } from "./fresh-files.ts";
import type { HoleWriter } from "./hole-writer.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import type { Scan } from "./scan.ts";
import type { ScannedEntry } from "./scanned-entries.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";
import type { TreeWriter } from "./tree-writer.ts";

const buffer = Buffer.allocUnsafe(1024 * 1024);
const BLOCK_BYTES = 512;

/** The first name in the tree of each file that has several, by what it is in the source. */
type FirstNames = Map<string, BytePath>;

/** With fewer files, other programs cost more than they save. */
const MANY_FILES = 200;

/** Copies every scanned file. Throws `SourceChanged` when one is not what the scan saw. Returns those that were still fresh. */
export async function copyScan(scan: Scan, tree: TreeWriter, control: JobControl): Promise<FreshFile[]> {
  const total = scan.entries.count;
  const files: ScannedEntry[] = [];
  let done = 0;
  const goOn = (count: number) => {
    done += count;
    checkAborted(control);
    if (done % 1000 < count) control.progress(`Importing ${total} files`, done / total);
  };
  control.progress(`Importing ${total} files`, 0);
  for (const entry of scan.entries) {
    checkAborted(control);
    const source = joined(scan.root, entry.path);
    if (entry.kind === "file") files.push(entry);
    else if (entry.kind === "directory") tree.folder(entry.path, entry.mode, mtimeNs(source));
    else copyLink(source, entry, tree);
    if (entry.kind !== "file") goOn(1);
  }
  const before = done;
  const onDone = (count: number) => goOn(before + count - done);
  // Before the first is read: what is fresh when it is read was so then.
  const readMs = Date.now();
  const rest = mayUseCopiers(scan, files) ? await copyFiles(files, { root: scan.root, tree, control, onDone }) : files;
  const here = new Set(rest);
  const there = files.filter((entry) => !here.has(entry) && isFresh(entry.ctimeMs, readMs) && !isSparse(tree, entry));
  const fresh = [...there, ...copyHere(rest, { scan, tree, goOn })];
  return fresh.map(({ path }) => ({ path, sha256: digestOf(joined(tree.root, path)) }));
}

/** A program is given paths as text. */
const mayUseCopiers = ({ root }: Scan, files: readonly ScannedEntry[]): boolean =>
  files.length >= MANY_FILES && toBytePath(shown(root)) === root;

/** Copies files one by one; gives those that were still fresh. */
function copyHere(
  files: readonly ScannedEntry[],
  { scan, tree, goOn }: { scan: Scan; tree: TreeWriter; goOn: (count: number) => void },
): ScannedEntry[] {
  const firstNames: FirstNames = new Map();
  return files.filter((entry) => {
    goOn(1);
    return copyFile(joined(scan.root, entry.path), entry, tree, firstNames);
  });
}

/** The scan keeps times less exactly than they are copied. */
function mtimeNs(source: BytePath): bigint {
  try {
    return fs.lstatSync(toFs(source), { bigint: true }).mtimeNs;
  } catch (error) {
    throw sourceFailure(source, error);
  }
}

function copyLink(source: BytePath, entry: ScannedEntry, tree: TreeWriter): void {
  const exactNs = mtimeNs(source);
  if (fs.lstatSync(toFs(source), { throwIfNoEntry: false })?.mtimeMs !== entry.mtimeMs) throw new SourceChanged(source);
  tree.link(entry.path, entry.linkTarget, exactNs);
}

/** Returns whether the file was still fresh. */
function copyFile(source: BytePath, entry: ScannedEntry, tree: TreeWriter, firstNames: FirstNames): boolean {
  const from = openSource(source);
  try {
    // SECURITY: whoever else can write to the project may have put a link in a folder's place, to what only this user can read (G-23, G-24)
    if (!isExactly(from, source, "latin1")) throw new SourceChanged(source);
    const readMs = Date.now();
    const stat = checkSame(from, source, entry);
    const own = `${stat.dev} ${stat.ino}`;
    const first = stat.nlink > 1 ? firstNames.get(own) : undefined;
    // SECURITY: a file with many names is copied once, or a small project would become a large tree (G-15)
    if (first === undefined || !tree.sameFile(entry.path, first)) {
      copyInto(from, entry, stat, tree);
      if (stat.nlink > 1) firstNames.set(own, entry.path);
    }
    checkSame(from, source, entry);
    // Nobody reads all of a hole to see whether it has changed.
    return isFresh(entry.ctimeMs, readMs) && !hasHoles(stat);
  } finally {
    fs.closeSync(from);
  }
}

function copyInto(from: number, entry: ScannedEntry, stat: fs.Stats, tree: TreeWriter): void {
  const to = tree.openFile(entry.path);
  try {
    if (hasHoles(stat)) {
      tree.room.take(stat.blocks * BLOCK_BYTES);
      copyHoles(from, to);
    } else if (entry.size > buffer.length) {
      tree.room.take(entry.size);
      cloneContent(from, to);
    } else copyContent(from, tree.fill(to), entry.size);
  } catch (error) {
    fs.closeSync(to);
    throw error;
  }
  tree.closeFile(to, entry.mode, fs.fstatSync(from, { bigint: true }).mtimeNs);
}

/** Nobody reads all of a hole to see whether it has changed. */
const isSparse = (tree: TreeWriter, { path }: ScannedEntry): boolean =>
  hasHoles(fs.lstatSync(toFs(joined(tree.root, path))));

const hasHoles = ({ size, blocks }: fs.Stats): boolean => blocks * BLOCK_BYTES + buffer.length < size;

function openSource(path: BytePath): number {
  try {
    // Neither a link that took the file's place is followed, nor a pipe waited for.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    return fs.openSync(toFs(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    throw sourceFailure(path, error);
  }
}

function checkSame(fd: number, path: BytePath, entry: ScannedEntry): fs.Stats {
  const stat = fs.fstatSync(fd);
  const same = stat.ino === entry.ino && stat.size === entry.size && stat.ctimeMs === entry.ctimeMs;
  if (!same || !stat.isFile()) throw new SourceChanged(path);
  return stat;
}

/** As much as the scan saw; that there is no more is looked at afterwards. */
function copyContent(from: number, to: HoleWriter, size: number): void {
  for (let left = size; left > 0;) {
    const count = fs.readSync(from, buffer, 0, Math.min(left, buffer.length), null);
    if (count === 0) break;
    to.add(buffer.subarray(0, count));
    left -= count;
  }
  to.end();
}

/** SECURITY: a hole may be larger than any disk, and Node cannot find its end (G-15). */
function copyHoles(from: number, to: number): void {
  const { status, error, stderr } = spawnSync(guestProgram(), ["copy-content"], { env: {}, stdio: [from, to, "pipe"] });
  if (error) throw error;
  if (status === 0) return;
  const full = /No space left on device|Disk quota exceeded/.test(stderr.toString());
  throw full ? Object.assign(new Error("no space is left"), { code: "ENOSPC" }) : new Error(stderr.toString().trim());
}

/** Lets the kernel share the blocks where the file system can; never a hard link, which would let a write reach the source. */
function cloneContent(from: number, to: number): void {
  fs.copyFileSync(fdPath(from), fdPath(to), fs.constants.COPYFILE_FICLONE);
}

function fdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}
