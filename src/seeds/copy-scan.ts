import * as fs from "node:fs";
import { joined, toFs, type BytePath } from "./byte-path.ts";
import { digestOf, isFresh, type FreshFile } from "./fresh-files.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import type { Scan } from "./scan.ts";
import type { ScannedEntry } from "./scanned-entries.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";
import { writeAll, type TreeWriter } from "./tree-writer.ts";

const buffer = Buffer.allocUnsafe(1024 * 1024);

/** Copies every scanned file. Throws `SourceChanged` when one is not what the scan saw. Returns those that were still fresh. */
export function copyScan(scan: Scan, tree: TreeWriter, control: JobControl): FreshFile[] {
  const fresh: FreshFile[] = [];
  const total = scan.entries.count;
  let done = 0;
  for (const entry of scan.entries) {
    checkAborted(control);
    if (done % 1000 === 0) control.progress(`Importing ${total} files`, done / total);
    done += 1;
    const source = joined(scan.root, entry.path);
    if (entry.kind === "directory") tree.folder(entry.path, entry.mode, mtimeNs(source));
    else if (entry.kind === "symlink") copyLink(source, entry, tree);
    else if (copyFile(source, entry, tree)) {
      fresh.push({ path: entry.path, sha256: digestOf(joined(tree.root, entry.path)) });
    }
  }
  return fresh;
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
function copyFile(source: BytePath, entry: ScannedEntry, tree: TreeWriter): boolean {
  const from = openSource(source);
  try {
    // SECURITY: whoever else can write to the project may have put a link in a folder's place, to what only this user can read (G-24)
    if (fs.readlinkSync(fdPath(from), { encoding: "latin1" }) !== source) throw new SourceChanged(source);
    const readMs = Date.now();
    checkSame(from, source, entry);
    const to = tree.openFile(entry.path);
    try {
      if (entry.size > buffer.length) cloneContent(from, to);
      else copyContent(from, to);
    } catch (error) {
      fs.closeSync(to);
      throw error;
    }
    tree.closeFile(to, entry.mode, fs.fstatSync(from, { bigint: true }).mtimeNs);
    checkSame(from, source, entry);
    return isFresh(entry.ctimeMs, readMs);
  } finally {
    fs.closeSync(from);
  }
}

function openSource(path: BytePath): number {
  try {
    // Neither a link that took the file's place is followed, nor a pipe waited for.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    return fs.openSync(toFs(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    throw sourceFailure(path, error);
  }
}

function checkSame(fd: number, path: BytePath, entry: ScannedEntry): void {
  const stat = fs.fstatSync(fd);
  const same = stat.ino === entry.ino && stat.size === entry.size && stat.ctimeMs === entry.ctimeMs;
  if (!same || !stat.isFile()) throw new SourceChanged(path);
}

function copyContent(from: number, to: number): void {
  for (let count = fs.readSync(from, buffer); count > 0; count = fs.readSync(from, buffer)) writeAll(to, buffer, count);
}

/** Lets the kernel share the blocks where the file system can; never a hard link, which would let a write reach the source. */
function cloneContent(from: number, to: number): void {
  fs.copyFileSync(fdPath(from), fdPath(to), fs.constants.COPYFILE_FICLONE);
}

function fdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}
