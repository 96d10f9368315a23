import * as fs from "node:fs";
import { Parser, type ReadEntry } from "tar";
import { isClocheError, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import {
  checkLinkTarget,
  MAX_BYTES,
  MAX_MEMBERS,
  memberKind,
  memberPath,
  refused,
  type MemberKind,
} from "./archive-members.ts";
import { joined, parentOf, toBytePath, toFs, type BytePath } from "./byte-path.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import type { TreeWriter } from "./tree-writer.ts";

interface Written {
  readonly kind: Exclude<MemberKind, "hardlink">;
  readonly mode: number;
  readonly mtimeNs: bigint | undefined;
  readonly size: number;
}

/** Unpacks a tar archive, gzipped or not, whose descriptor is `fd`. Everything about it is checked; nothing about it is trusted. */
export async function unpackArchive(fd: number, name: string, tree: TreeWriter, control: JobControl): Promise<void> {
  const unpacking = new Unpacking(tree);
  const parser = new Parser({ strict: true });
  let failed: unknown;
  let settle = (): void => undefined;
  // at the end of the archive, or at what is wrong with it
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const fail = (error: unknown) => {
    failed ??= error;
    settle();
  };
  parser.on("error", fail);
  parser.once("end", settle);
  parser.on("ignoredEntry", (entry: ReadEntry) => fail(refused(entry.path, `it is of type ${entry.type}`)));
  parser.on("entry", (entry: ReadEntry) => {
    entry.on("error", fail);
    try {
      if (failed === undefined) unpacking.add(entry, fail);
    } catch (error) {
      fail(error);
    }
    entry.resume();
  });
  const size = fs.fstatSync(fd).size;
  const chunk = Buffer.allocUnsafe(256 * 1024);
  try {
    for (let read = 0, count = fs.readSync(fd, chunk); count > 0; count = fs.readSync(fd, chunk)) {
      checkAborted(control);
      control.progress("Unpacking the archive", (read += count) / size);
      // a copy, for the parser may keep a part of it
      if (!parser.write(Buffer.from(chunk.subarray(0, count)))) await drained(parser);
      if (failed !== undefined) break;
    }
    if (failed === undefined) {
      parser.end();
      await settled;
    }
  } catch (error) {
    fail(error);
  } finally {
    unpacking.close();
  }
  if (failed !== undefined) throw isClocheError(failed) || isSystemError(failed) ? failed : broken(name, failed);
}

/** The parser takes more once it has emitted what it holds, which may already be the case. */
function drained(parser: Parser): Promise<void> {
  return new Promise((resolve) => {
    parser.once("drain", resolve);
    setImmediate(resolve);
  });
}

class Unpacking {
  readonly #tree: TreeWriter;
  readonly #written = new Map<BytePath, Written>([["", { kind: "directory", mode: 0, mtimeNs: undefined, size: 0 }]]);
  readonly #open = new Set<number>();
  #members = 0;
  #bytes = 0;

  constructor(tree: TreeWriter) {
    this.#tree = tree;
  }

  add(entry: ReadEntry, fail: (error: unknown) => void): void {
    const kind = memberKind(entry.path, entry.type);
    const path = toBytePath(memberPath(entry.path));
    this.#count(entry.path, kind === "file" ? entry.size : 0);
    const mode = entry.mode ?? 0o644;
    const mtimeNs = entry.mtime === undefined ? undefined : BigInt(entry.mtime.getTime()) * 1_000_000n;
    this.#makeParents(entry.path, parentOf(path));
    this.#replace(entry.path, path, kind);
    if (kind === "directory") this.#folder(path, mode, mtimeNs);
    else if (kind === "file") this.#file(entry, path, mode, mtimeNs, fail);
    else if (kind === "symlink") this.#link(entry, path, mtimeNs);
    else this.#copy(entry, path);
  }

  /** Closes what a broken archive left open. */
  close(): void {
    for (const fd of this.#open) fs.closeSync(fd);
  }

  #count(name: string, size: number): void {
    if (++this.#members > MAX_MEMBERS) throw refused(name, `there are more than ${MAX_MEMBERS} members`);
    if ((this.#bytes += size) > MAX_BYTES) throw refused(name, `there are more than ${MAX_BYTES} bytes`);
  }

  /** SECURITY: every folder on the way is one that this archive made; a link in its place is never passed through (G-13). */
  #makeParents(name: string, path: BytePath): void {
    const known = this.#written.get(path);
    if (known?.kind === "directory") return;
    if (known !== undefined) throw refused(name, "it is below a member that is no folder");
    this.#makeParents(name, parentOf(path));
    this.#folder(path, 0o755, undefined);
  }

  /** As tar does, a later member takes the place of an earlier; a folder stays. */
  #replace(name: string, path: BytePath, kind: MemberKind): void {
    const known = this.#written.get(path);
    if (known === undefined) return;
    if (known.kind === "directory" && kind === "directory") return;
    if (known.kind === "directory" || kind === "directory") throw refused(name, "it is there twice, once as a folder");
    fs.unlinkSync(toFs(joined(this.#tree.root, path)));
  }

  #folder(path: BytePath, mode: number, mtimeNs: bigint | undefined): void {
    if (this.#written.has(path)) return;
    this.#tree.folder(path, mode, mtimeNs);
    this.#written.set(path, { kind: "directory", mode, mtimeNs, size: 0 });
  }

  #file(
    entry: ReadEntry,
    path: BytePath,
    mode: number,
    mtimeNs: bigint | undefined,
    fail: (error: unknown) => void,
  ): void {
    const fd = this.#tree.openFile(path);
    const writer = this.#tree.fill(fd);
    this.#open.add(fd);
    this.#written.set(path, { kind: "file", mode, mtimeNs, size: entry.size });
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    };
    entry.on("data", (chunk: Buffer) => attempt(() => writer.add(chunk)));
    entry.on("end", () => {
      attempt(() => writer.end());
      this.#open.delete(fd);
      this.#tree.closeFile(fd, mode, mtimeNs);
    });
  }

  #link(entry: ReadEntry, path: BytePath, mtimeNs: bigint | undefined): void {
    const target = entry.linkpath ?? "";
    checkLinkTarget(entry.path, path, target);
    this.#tree.link(path, toBytePath(target), mtimeNs);
    this.#written.set(path, { kind: "symlink", mode: 0o777, mtimeNs, size: 0 });
  }

  /** SECURITY: a file with many names is there once, or a small archive would become a large tree (G-15). */
  #copy(entry: ReadEntry, path: BytePath): void {
    // Looked up among what was written, so a name that leaves is just one that is not there.
    const target = toBytePath(entry.linkpath ?? "").replace(/^(\.\/+)+/, "");
    const first = this.#written.get(target);
    if (first?.kind !== "file" || target === path)
      throw refused(entry.path, `it links to "${entry.linkpath ?? ""}", which is no earlier file`);
    if (!this.#tree.sameFile(path, target)) throw refused(entry.path, "the file that it links to has too many names");
    this.#written.set(path, first);
  }
}

/** Of writing the tree; what is wrong with the archive has no `syscall`. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && "errno" in error && "syscall" in error;
}

function broken(name: string, cause: unknown): Error {
  return failure("SEED_INVALID", `Cannot import "${name}": it is no whole tar archive (${messageOf(cause)})`, {
    hint: "Make the archive again, as .tar, .tar.gz or .tgz",
    cause,
  });
}
