import * as fs from "node:fs";
import { errnoOf } from "../base/errors.ts";
import { fileTime } from "../base/file-time.ts";
import { joined, toFs, type BytePath } from "./byte-path.ts";
import { HoleWriter } from "./hole-writer.ts";
import { IGNORE_FILE } from "./ignore-sources.ts";
import type { TreeOwner } from "./seed-key.ts";
import { ROOM_OF_A_NAME, type SeedRoom } from "./seed-room.ts";

/** Writes into the tree that is being built: everything belongs to the sandbox's user, nobody gains by a mode. */
export class TreeWriter {
  /** Absolute. */
  readonly root: BytePath;
  /** To be asked before content is written; names are counted here. */
  readonly room: SeedRoom;
  /** Paths of ignore files that were written. */
  readonly ignoreFiles = new Set<BytePath>();
  readonly #owner: TreeOwner;
  readonly #foreign: boolean;
  readonly #folders: { path: BytePath; mode: number; mtimeNs: bigint | undefined }[] = [];

  constructor(root: BytePath, owner: TreeOwner, room: SeedRoom) {
    this.root = root;
    this.room = room;
    this.#owner = owner;
    this.#foreign = process.getuid?.() !== owner.uid || process.getgid?.() !== owner.gid;
  }

  /** How a program that writes into the tree is told whose it is; nothing where it is this user's. */
  get ownerArguments(): string[] {
    return this.#foreign ? ["--owner", `${this.#owner.uid}:${this.#owner.gid}`] : [];
  }

  /** To be called for each file that such a program writes. */
  noteWritten(path: BytePath): void {
    if (path === IGNORE_FILE || path.endsWith(`/${IGNORE_FILE}`)) this.ignoreFiles.add(path);
  }

  /** Its mode and time are set by `finish`, since a read-only folder could not be filled. */
  folder(path: BytePath, mode: number, mtimeNs?: bigint): void {
    this.room.take(ROOM_OF_A_NAME);
    fs.mkdirSync(toFs(joined(this.root, path)), { mode: 0o700 });
    this.#folders.push({ path, mode, mtimeNs });
  }

  /** A new empty file, open for writing; `closeFile` ends it. */
  openFile(path: BytePath): number {
    this.#noteName(path);
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
    return fs.openSync(toFs(joined(this.root, path)), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  /** Writes content into an open file; `closeFile` after its `end`. */
  fill(fd: number): HoleWriter {
    return new HoleWriter(fd, (bytes) => this.room.take(bytes));
  }

  closeFile(fd: number, mode: number, mtimeNs: bigint | undefined): void {
    try {
      if (this.#foreign) fs.fchownSync(fd, this.#owner.uid, this.#owner.gid);
      // SECURITY: no setuid, setgid or sticky bit comes in (G-06); the user can always read and write what is in the workspace
      fs.fchmodSync(fd, (mode & 0o777) | 0o600);
      if (mtimeNs !== undefined) fs.futimesSync(fd, fileTime(mtimeNs), fileTime(mtimeNs));
    } finally {
      fs.closeSync(fd);
    }
  }

  file(path: BytePath, content: Uint8Array, mode: number, mtimeNs?: bigint): void {
    const fd = this.openFile(path);
    try {
      const writer = this.fill(fd);
      writer.add(content);
      writer.end();
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
    this.closeFile(fd, mode, mtimeNs);
  }

  /**
   * Another name of a file of the tree; false when the file system gives it no more. Nobody writes into the tree: in a workspace the names come apart at the
   * first change.
   */
  sameFile(path: BytePath, first: BytePath): boolean {
    this.#noteName(path);
    try {
      fs.linkSync(toFs(joined(this.root, first)), toFs(joined(this.root, path)));
      return true;
    } catch (error) {
      if (errnoOf(error) === "EMLINK") return false;
      throw error;
    }
  }

  #noteName(path: BytePath): void {
    this.room.take(ROOM_OF_A_NAME);
    this.noteWritten(path);
  }

  link(path: BytePath, target: BytePath, mtimeNs: bigint | undefined): void {
    const absolute = toFs(joined(this.root, path));
    this.room.take(ROOM_OF_A_NAME);
    fs.symlinkSync(toFs(target), absolute);
    if (this.#foreign) fs.lchownSync(absolute, this.#owner.uid, this.#owner.gid);
    if (mtimeNs !== undefined) fs.lutimesSync(absolute, fileTime(mtimeNs), fileTime(mtimeNs));
  }

  /** A file made by somebody else becomes one of the tree. */
  adopt(path: BytePath, mode: number): void {
    this.closeFile(
      fs.openSync(toFs(joined(this.root, path)), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW),
      mode,
      undefined,
    );
  }

  /** Folders get their mode, owner and time, the innermost first. */
  finish(): void {
    for (const { path, mode, mtimeNs } of this.#folders.reverse()) {
      const absolute = toFs(joined(this.root, path));
      if (this.#foreign) fs.lchownSync(absolute, this.#owner.uid, this.#owner.gid);
      fs.chmodSync(absolute, (mode & 0o777) | 0o700);
      if (mtimeNs !== undefined) fs.utimesSync(absolute, fileTime(mtimeNs), fileTime(mtimeNs));
    }
  }
}
