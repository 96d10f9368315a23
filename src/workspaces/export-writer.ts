import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import { fileTime } from "../base/file-time.ts";
import { randomName } from "../base/ids.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { LinkPolicy } from "../model/files.ts";
import type { ArtifactType } from "../model/names.ts";
import { ExportLinks } from "./export-links.ts";
import { holdScratch, type HeldScratch } from "./held-scratch.ts";

/** What comes out of a sandbox, as far as it is needed here. Nothing of it is trusted. */
export interface ExportItem {
  readonly type: "file" | "directory" | "symlink" | "other";
  /** Relative to the exported thing, which itself comes first and has the empty path. */
  readonly pathBytes: Buffer;
  readonly mode: number;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly linkTargetBytes: Buffer;
  readonly content: AsyncIterable<Uint8Array> | undefined;
}

export interface ExportOptions {
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What becomes of links that lead out of the export; `refuse` when not given. */
  readonly links?: LinkPolicy | undefined;
  /** Where it is built, on the same file system; the caller removes it. Without one, a folder beside the output. */
  readonly scratch?: string | undefined;
  /** A file takes the place of a file, and a folder that of an empty one. */
  readonly overwrite?: boolean | undefined;
  /** Another name for the folder of the output, which leads to it whatever becomes of the path. */
  readonly folder?: string | undefined;
}

export interface WrittenExport {
  readonly artifactType: ArtifactType;
  readonly entries: number;
  readonly bytes: number;
  /** Links that led out and were left out. */
  readonly skippedLinks: number;
}

/** Of all paths together: they are remembered until the end. */
const MAX_PATHS_BYTES = 24 * 1024 * 1024;
const MAX_ENTRIES = 1_000_000;

/**
 * Writes a file, folder or link from a sandbox to `outputPath`, which must not exist, in a folder that does. It is built in a private folder
 * beside and moved into place when it is whole; on any failure nothing is left.
 */
export async function writeExport(
  items: AsyncIterable<ExportItem>,
  outputPath: string,
  options: ExportOptions = {},
): Promise<WrittenExport> {
  const output = resolve(outputPath);
  const folder = options.folder ?? dirname(output);
  const place = join(folder, basename(output));
  await checkOutput(output, place, options.overwrite);
  const name = basename(options.scratch ?? `.${basename(output).slice(0, 60)}.cloche-${randomName(8)}`);
  await using held = openScratch(join(folder, name), output);
  try {
    const writer = new ExportWriter(join(held.path, "export"), options);
    for await (const item of items) await writer.add(item);
    const written = await writer.finish();
    const move = options.overwrite ? replaceFile : moveIntoPlace;
    await move(join(held.path, "export"), output, written.artifactType, place);
    return written;
  } catch (error) {
    throw toFailure(error, output);
  }
}

class ExportWriter {
  readonly #root: Buffer;
  readonly #options: ExportOptions;
  /** Paths written so far, one byte a character; true for folders. */
  readonly #written = new Map<string, boolean>();
  readonly #folders: { path: Buffer; mode: number; mtimeNs: bigint }[] = [];
  readonly #links = new ExportLinks((path) => this.#written.get(path) === true);
  #type: ArtifactType | undefined;
  #bytes = 0;
  #pathBytes = 0;

  constructor(root: string, options: ExportOptions) {
    this.#root = Buffer.from(root);
    this.#options = options;
  }

  async add(item: ExportItem): Promise<void> {
    this.#checkSignal();
    const path = this.#place(item);
    if (item.type === "directory") {
      await fs.mkdir(path, { mode: 0o700 });
      this.#folders.push({ path, mode: item.mode, mtimeNs: item.mtimeNs });
    } else if (item.type === "symlink") await this.#writeLink(path, item);
    else if (item.type === "file") await this.#writeFile(path, item);
    else throw refused(item, "its type is unknown");
  }

  /** Folders get their modes and times when nothing more is written into them. */
  async finish(): Promise<WrittenExport> {
    this.#checkSignal();
    if (this.#type === undefined) throw failure("GUEST_PROTOCOL", "Cannot export: the sandbox sent nothing");
    const skippedLinks = await this.#settleLinks();
    for (const { path, mode, mtimeNs } of this.#folders.reverse()) {
      await fs.chmod(path, (mode & 0o777) | 0o700);
      await fs.utimes(path, fileTime(mtimeNs), fileTime(mtimeNs));
    }
    const entries = this.#written.size - skippedLinks;
    return { artifactType: this.#type, entries, bytes: this.#bytes, skippedLinks };
  }

  /**
   * SECURITY: a program that follows a link in an export reads and writes the host with the user's rights. So a link that leads out is taken only on
   * request (G-12). Returns how many were left out.
   */
  async #settleLinks(): Promise<number> {
    const { links = "refuse" } = this.#options;
    let skipped = 0;
    if (links === "keep") return skipped;
    for await (const { path, target } of this.#links.leadingOut()) {
      this.#checkSignal();
      if (links === "refuse" || path === "") throw leadsOut(path, target);
      await fs.unlink(this.#absolute(path));
      skipped += 1;
    }
    return skipped;
  }

  /**
   * SECURITY: a member lies in a folder that this very export made, so it is below the root and no link is on its way; and it is
   * new, so that nothing is overwritten (G-12).
   */
  #place(item: ExportItem): Buffer {
    const key = item.pathBytes.toString("latin1");
    if (this.#written.has(key)) throw refused(item, "it is there twice");
    this.#pathBytes += key.length;
    // SECURITY: what is remembered of an export is bounded (G-10).
    if (this.#written.size >= MAX_ENTRIES || this.#pathBytes > MAX_PATHS_BYTES) {
      throw failure("TOO_MANY_ENTRIES", `Cannot export more than ${MAX_ENTRIES} files at once`);
    }
    if (this.#type === undefined) {
      if (key !== "") throw refused(item, "it comes before the exported thing itself");
      if (item.type === "other") throw failure("FILE_WRONG_TYPE", "Cannot export what is no file, folder or link");
      this.#type = item.type;
    } else {
      const parts = key.split("/");
      if (key.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) {
        throw refused(item, "its path is not plain");
      }
      if (!this.#written.get(parts.slice(0, -1).join("/"))) throw refused(item, "it is in no folder of the export");
    }
    this.#written.set(key, item.type === "directory");
    return this.#absolute(key);
  }

  #absolute(key: string): Buffer {
    return key === "" ? this.#root : Buffer.concat([this.#root, Buffer.from(`/${key}`, "latin1")]);
  }

  /** The target is text, kept as it is and never followed. */
  async #writeLink(path: Buffer, item: ExportItem): Promise<void> {
    if (item.linkTargetBytes.length === 0 || item.linkTargetBytes.includes(0))
      throw refused(item, "its target is no path");
    const [link, target] = [item.pathBytes.toString("latin1"), item.linkTargetBytes.toString("latin1")];
    this.#links.add(link, target);
    // Known before all of the export has been written.
    if ((this.#options.links ?? "refuse") === "refuse" && target.startsWith("/")) throw leadsOut(link, target);
    await fs.symlink(item.linkTargetBytes, path);
    await fs.lutimes(path, fileTime(item.mtimeNs), fileTime(item.mtimeNs));
  }

  async #writeFile(path: Buffer, item: ExportItem): Promise<void> {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const file = await fs.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      let size = 0;
      const writer = new GatheredWrites(file);
      for await (const chunk of item.content ?? []) {
        this.#checkSignal();
        size += chunk.length;
        if (size > item.size) break;
        this.#count(chunk.length);
        await writer.add(chunk);
      }
      await writer.end();
      if (size !== item.size)
        throw refused(item, `it has ${size > item.size ? "more" : "fewer"} bytes than were announced`);
      // SECURITY: no setuid, setgid or sticky bit leaves the sandbox (G-12)
      await file.chmod(item.mode & 0o777);
      await file.utimes(fileTime(item.mtimeNs), fileTime(item.mtimeNs));
    } finally {
      await file.close();
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    const { maxBytes } = this.#options;
    if (maxBytes !== undefined && this.#bytes > maxBytes) {
      throw failure("FILE_TOO_LARGE", `Cannot export: there are more than ${maxBytes} bytes`, {
        hint: "Export a folder or file further down",
      });
    }
  }

  #checkSignal(): void {
    if (this.#options.signal?.aborted) throw failure("CANCELLED", "The export was cancelled");
  }
}

const GATHERED_BYTES = 512 * 1024;

/** Large enough for what a sandbox sends at once. */
const ZEROS = Buffer.alloc(64 * 1024);
const isHole = (chunk: Uint8Array): boolean =>
  chunk.length >= 4096 && chunk.length <= ZEROS.length && ZEROS.compare(chunk, 0, chunk.length, 0, chunk.length) === 0;

/**
 * Chunks of a file on their way to the disk, many in one write: a write of its own costs each more than its bytes do. A chunk of zeros becomes a hole,
 * as it may have been in the sandbox.
 */
class GatheredWrites {
  readonly #file: fs.FileHandle;
  #held: Uint8Array[] = [];
  #bytes = 0;
  #at = 0;

  constructor(file: fs.FileHandle) {
    this.#file = file;
  }

  async add(chunk: Uint8Array): Promise<void> {
    if (isHole(chunk)) {
      await this.flush();
      this.#at += chunk.length;
      return;
    }
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= GATHERED_BYTES) await this.flush();
  }

  /** A hole at the end is only a size. */
  async end(): Promise<void> {
    await this.flush();
    await this.#file.truncate(this.#at);
  }

  async flush(): Promise<void> {
    let rest = this.#held;
    let left = this.#bytes;
    this.#held = [];
    this.#bytes = 0;
    while (left > 0) {
      const { bytesWritten } = await this.#file.writev(rest, this.#at);
      this.#at += bytesWritten;
      left -= bytesWritten;
      if (left > 0) rest = [Buffer.concat(rest).subarray(bytesWritten)];
    }
  }
}

async function checkOutput(output: string, place: string, overwrite = false): Promise<void> {
  const parent = dirname(output);
  const found = await statMaybe(() => fs.stat(dirname(place)));
  if (!found?.isDirectory() || output === parent) {
    throw failure("OUTPUT_INVALID", `Cannot export to "${output}": "${parent}" is no folder`);
  }
  // lstat: a link that leads nowhere is something too, and must not be written through
  const there = await statMaybe(() => fs.lstat(place));
  if (there && !(overwrite && (there.isFile() || there.isDirectory()))) throw outputExists(output);
}

async function statMaybe<T>(stat: () => Promise<T>): Promise<T | undefined> {
  try {
    return await stat();
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw failure("OUTPUT_INVALID", `Cannot export: ${messageOf(error)}`, { cause: error });
  }
}

function openScratch(scratch: string, output: string): HeldScratch {
  try {
    return holdScratch(scratch);
  } catch (error) {
    if (errnoOf(error) === "ENOSPC") throw toFailure(error, output);
    throw failure("OUTPUT_INVALID", `Cannot export to "${output}": ${messageOf(error)}`, { cause: error });
  }
}

/** SECURITY: nothing that came to be at the output meanwhile is replaced (G-12); `rename` alone would. */
export async function moveIntoPlace(from: string, output: string, type: ArtifactType, place = output): Promise<void> {
  try {
    if (type === "directory") {
      await fs.mkdir(place, { mode: 0o700 });
      // takes the place of the empty folder that was just made, and of nothing that has content
      await fs.rename(from, place).catch(async (error: unknown) => {
        await fs.rmdir(place).catch(() => undefined); // somebody put something into it: theirs
        throw error;
      });
    } else await fs.link(from, place);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST" || code === "ENOTEMPTY") throw outputExists(output);
    // a file system without hard links
    if (type === "directory" || (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP")) throw error;
    if (await statMaybe(() => fs.lstat(place))) throw outputExists(output);
    await fs.rename(from, place);
  }
}

/**
 * Takes the place of a file, or of an empty folder, in one step: who looks sees the old one or the new.
 * SECURITY: never through a link, and never of a folder that has something in it (G-12).
 */
async function replaceFile(from: string, output: string, type: ArtifactType, place: string): Promise<void> {
  const there = await statMaybe(() => fs.lstat(place));
  if (there === undefined) {
    await moveIntoPlace(from, output, type, place);
    return;
  }
  if (type === "directory" ? !there.isDirectory() : !there.isFile()) throw outputExists(output);
  try {
    await fs.rename(from, place);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "EISDIR" || code === "ENOTDIR")
      throw outputExists(output);
    throw error;
  }
}

function outputExists(output: string): Error {
  return failure("OUTPUT_EXISTS", `Cannot export to "${output}": it exists`, {
    hint: [
      way`Choose an output path that does not exist`,
      way`let a file take the place of a file with ${argument("overwrite")}`,
    ],
  });
}

function refused(item: ExportItem, reason: string): Error {
  return failure("GUEST_PROTOCOL", `Cannot export "${item.pathBytes.toString("utf8")}": ${reason}`);
}

function leadsOut(path: string, target: string): Error {
  const [from, to] = [path, target].map((text) => Buffer.from(text, "latin1").toString("utf8"));
  const what = path === "" ? "it" : `"${from}"`;
  return failure(
    "PATH_OUTSIDE_WORKSPACE",
    `Cannot export: ${what} is a link to "${to}", which leads out of what is exported`,
    {
      hint:
        path === ""
          ? [way`Export what the link leads to`, way`take the link as it is with ${argument("links", "keep")}`]
          : [
              way`Leave such links out with ${argument("links", "skip")}`,
              way`take them as they are with ${argument("links", "keep")}`,
            ],
      details: { path: from, target: to },
    },
  );
}

function toFailure(error: unknown, output: string): unknown {
  if (isClocheError(error)) return error;
  const code = errnoOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return failure("DISK_FULL", `Cannot export to "${output}": no space is left`, { cause: error });
  }
  if (code === undefined) return error;
  return failure("FILE_FAILED", `Cannot export to "${output}": ${messageOf(error)}`, {
    hint: "Check the folder that the export is written to",
    cause: error,
  });
}
