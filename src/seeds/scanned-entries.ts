import type { Hash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { joined, parentOf, type BytePath } from "./byte-path.ts";

/** One file, folder or link of the source as `lstat` saw it. */
export interface ScannedEntry {
  /** Relative to the seed's root. */
  readonly path: BytePath;
  readonly kind: "file" | "directory" | "symlink";
  readonly mode: number;
  /** These are 0 for what is no file. */
  readonly size: number;
  readonly ctimeMs: number;
  readonly ino: number;
  /** 0 for folders. */
  readonly mtimeMs: number;
  readonly linkTarget: BytePath;
}

const { S_IFMT, S_IFREG, S_IFDIR, S_IFLNK } = constants;
const MODE = 0;
const SIZE = 1;
const MTIME = 2;
const CTIME = 3;
const INO = 4;
const FIELDS = 5;

/**
 * What a scan found, in columns: a state that the cache has needs only the digest of them, and an object for each file would take longer
 * than looking at it. Times are milliseconds in doubles, good to a quarter of a microsecond; what changes within that is within the clock's
 * grain, which `fresh-files.ts` is for.
 */
export class ScannedEntries implements Iterable<ScannedEntry> {
  readonly #names: BytePath[] = [];
  readonly #links = new Map<number, BytePath>();
  /** Runs of names in the same folder. */
  readonly #runs: { readonly folder: BytePath; readonly start: number }[] = [];
  #folder: BytePath | undefined;
  #stats = new Float64Array(1024 * FIELDS);

  get count(): number {
    return this.#names.length;
  }

  /** A folder comes before what is in it. */
  add(folder: BytePath, name: BytePath, stat: Stats, linkTarget?: BytePath): void {
    const index = this.#begin(folder, name);
    const at = index * FIELDS;
    const stats = this.#stats;
    const kind = stat.mode & S_IFMT;
    stats[at + MODE] = kind | (stat.mode & 0o777);
    // Folders by name and mode alone: what git ignores may come and go in them.
    if (kind === S_IFDIR) return;
    stats[at + MTIME] = stat.mtimeMs;
    if (kind === S_IFLNK) {
      stats[at + MODE] = kind;
      this.#links.set(index, linkTarget ?? "");
      return;
    }
    stats[at + SIZE] = stat.size;
    stats[at + CTIME] = stat.ctimeMs;
    stats[at + INO] = stat.ino;
  }

  /** What has that path; undefined when nothing was found there. */
  find(path: BytePath): ScannedEntry | undefined {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const folder = parentOf(path);
    for (const [run, { folder: at, start }] of this.#runs.entries()) {
      if (at !== folder) continue;
      const index = this.#names.slice(start, this.#runs[run + 1]?.start).indexOf(name);
      if (index >= 0) return this.#entry(at, start + index);
    }
    return undefined;
  }

  /** What is in a folder, with paths relative to it; undefined when there is no such folder. */
  below(folder: BytePath): ScannedEntries | undefined {
    if (this.find(folder)?.kind !== "directory") return undefined;
    const part = new ScannedEntries();
    for (const [run, { folder: at, start }] of this.#runs.entries()) {
      if (at !== folder && !at.startsWith(`${folder}/`)) continue;
      const end = this.#runs[run + 1]?.start ?? this.count;
      for (let index = start; index < end; index += 1) part.#copy(this, index, at.slice(folder.length + 1));
    }
    return part;
  }

  #copy(from: ScannedEntries, index: number, folder: BytePath): void {
    const own = this.#begin(folder, from.#names[index] ?? "");
    this.#stats.set(from.#stats.subarray(index * FIELDS, (index + 1) * FIELDS), own * FIELDS);
    const link = from.#links.get(index);
    if (link !== undefined) this.#links.set(own, link);
  }

  /** Every field, each after what tells where it ends. */
  addTo(digest: Hash): void {
    let text = "";
    this.#runs.forEach(({ folder, start }, index) => {
      const names = this.#names.slice(start, this.#runs[index + 1]?.start);
      text += `${folder}\0${names.length}\0${names.join("\0")}\0`;
      if (text.length > 65_536) {
        digest.update(text, "latin1");
        text = "";
      }
    });
    for (const [index, target] of this.#links) text += `${index}\0${target}\0`;
    digest.update(`${text}\0${this.count}\0`, "latin1");
    digest.update(this.#stats.subarray(0, this.count * FIELDS));
  }

  *[Symbol.iterator](): Generator<ScannedEntry> {
    for (const [run, { folder, start }] of this.#runs.entries()) {
      const end = this.#runs[run + 1]?.start ?? this.count;
      for (let index = start; index < end; index += 1) yield this.#entry(folder, index);
    }
  }

  #entry(folder: BytePath, index: number): ScannedEntry {
    const field = (offset: number) => this.#stats[index * FIELDS + offset] ?? 0;
    const kind = field(MODE) & S_IFMT;
    return {
      path: joined(folder, this.#names[index] ?? ""),
      kind: kind === S_IFREG ? "file" : kind === S_IFDIR ? "directory" : "symlink",
      mode: field(MODE) & 0o777,
      size: field(SIZE),
      mtimeMs: field(MTIME),
      ctimeMs: field(CTIME),
      ino: field(INO),
      linkTarget: this.#links.get(index) ?? "",
    };
  }

  /** The index of a new entry that has no fields yet. */
  #begin(folder: BytePath, name: BytePath): number {
    const index = this.#names.length;
    if (folder !== this.#folder) {
      this.#runs.push({ folder, start: index });
      this.#folder = folder;
    }
    this.#names.push(name);
    if (index * FIELDS === this.#stats.length) this.#grow();
    return index;
  }

  #grow(): void {
    const larger = new Float64Array(this.#stats.length * 2);
    larger.set(this.#stats);
    this.#stats = larger;
  }
}
