import * as fs from "node:fs";
import { joined, toFs, type BytePath } from "./byte-path.ts";
import { digestOf, isFresh, nowNs, type FreshFile } from "./fresh-files.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import type { Scan, ScannedEntry } from "./scan.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";
import { writeAll, type TreeWriter } from "./tree-writer.ts";

const buffer = Buffer.allocUnsafe(1024 * 1024);

/** Copies every scanned file. Throws `SourceChanged` when one is not what the scan saw. Returns those that were still fresh. */
export function copyScan(scan: Scan, tree: TreeWriter, control: JobControl): FreshFile[] {
  const fresh: FreshFile[] = [];
  const total = scan.entries.length;
  scan.entries.forEach((entry, index) => {
    checkAborted(control);
    if (index % 1000 === 0) control.progress(`Importing ${total} files`, index / total);
    if (entry.kind === "directory") tree.folder(entry.path, entry.mode, entry.mtimeNs);
    else if (entry.kind === "symlink") tree.link(entry.path, entry.linkTarget, entry.mtimeNs);
    else if (copyFile(joined(scan.root, entry.path), entry, tree)) {
      fresh.push({ path: entry.path, sha256: digestOf(joined(tree.root, entry.path)) });
    }
  });
  return fresh;
}

/** Returns whether the file was still fresh. */
function copyFile(source: BytePath, entry: ScannedEntry, tree: TreeWriter): boolean {
  const from = openSource(source);
  try {
    checkSame(from, source, entry);
    const to = tree.openFile(entry.path);
    try {
      if (entry.size > BigInt(buffer.length)) cloneContent(from, to);
      else copyContent(from, to);
    } catch (error) {
      fs.closeSync(to);
      throw error;
    }
    tree.closeFile(to, entry.mode, entry.mtimeNs);
    checkSame(from, source, entry);
    return isFresh(entry.ctimeNs, nowNs());
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
  const stat = fs.fstatSync(fd, { bigint: true });
  const same = stat.ino === entry.ino && stat.size === entry.size && stat.ctimeNs === entry.ctimeNs;
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
