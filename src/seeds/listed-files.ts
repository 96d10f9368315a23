import type { Stats } from "node:fs";
import { failure } from "../model/error-codes.ts";
import { joined, parentOf, shown, type BytePath } from "./byte-path.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import { FolderScanner, kindOf, type Scan } from "./scan.ts";
import { SourceChanged } from "./seed-errors.ts";

export interface ListedFilesOptions {
  readonly control: JobControl;
  /** Scans a repository inside this one; false when there is none. */
  scanInner(path: BytePath): Promise<boolean>;
}

/** A folder of the work tree on the way to a listed file. */
interface ListedFolder {
  readonly path: BytePath;
  readonly scanner: FolderScanner;
}

/** Adds to a scan what git lists. Each folder on the way is added once, and only when it is no link. */
export class ListedFiles {
  readonly #scan: Scan;
  readonly #top: BytePath;
  readonly #options: ListedFilesOptions;
  /** By the path that git has for it; undefined for what is no folder. */
  readonly #folders: Map<BytePath, ListedFolder | undefined>;
  #count = 0;

  constructor(scan: Scan, top: BytePath, options: ListedFilesOptions) {
    this.#scan = scan;
    this.#top = top;
    this.#options = options;
    this.#folders = new Map([["", { path: top, scanner: new FolderScanner(scan, top) }]]);
  }

  /** Of `ls-files -z --stage -v`. */
  async addTracked(listing: string): Promise<void> {
    let before: BytePath | undefined;
    let place: { folder: BytePath; found: ListedFolder | undefined } | undefined;
    for (let at = 0, end = listing.indexOf("\0"); end >= 0; at = end + 1, end = listing.indexOf("\0", at)) {
      const path = listing.slice(listing.indexOf("\t", at) + 1, end);
      if (path === before) continue; // a merge under way has a path up to three times
      before = path;
      const folder = parentOf(path);
      if (folder !== place?.folder) place = { folder, found: this.#folder(folder, path) };
      if (isFolder(this.#add(path, place.found)) && listing.startsWith("160000 ", at + 2)) await this.#inner(path);
    }
  }

  /** Of `ls-files -z --others`. */
  async addOthers(listing: string): Promise<void> {
    for (const record of listing.split("\0")) {
      if (record === "") continue;
      const repository = record.endsWith("/");
      const path = repository ? record.slice(0, -1) : record;
      if (isFolder(this.#add(path, this.#folder(parentOf(path), path))) && repository) await this.#inner(path);
    }
  }

  /** One that git does not list; undefined when it is not there, or no file or link. */
  addFile(path: BytePath): Stats | undefined {
    const stat = this.#add(path, this.#folder(parentOf(path), path));
    return stat && kindOf(stat) !== "directory" ? stat : undefined;
  }

  /** A folder, also one that has nothing in it. */
  addFolder(path: BytePath): void {
    this.#folder(path, path);
  }

  async #inner(path: BytePath): Promise<void> {
    this.addFolder(path);
    await this.#options.scanInner(joined(this.#top, path));
  }

  /** What has that name, which is part of the scan then unless it is a folder. */
  #add(path: BytePath, folder: ListedFolder | undefined): Stats | undefined {
    if (++this.#count % 512 === 0) checkAborted(this.#options.control);
    const name = path.slice(path.lastIndexOf("/") + 1);
    this.#checkName(name, path);
    // SECURITY: a tracked folder may have become a link to anywhere; what git tracked below it is gone (G-01)
    if (folder === undefined) return undefined;
    const stat = lookMaybe(folder, name);
    if (stat === undefined) return undefined; // deleted in the work tree
    const kind = kindOf(stat);
    if (kind === "directory") return stat;
    if (kind === "other") {
      this.#scan.leftOut.push(joined(folder.path, name));
      return undefined;
    }
    folder.scanner.take(name, stat);
    return stat;
  }

  /** On the way to `listed`. */
  #folder(path: BytePath, listed: BytePath): ListedFolder | undefined {
    if (this.#folders.has(path)) return this.#folders.get(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    this.#checkName(name, listed);
    const parent = this.#folder(parentOf(path), listed);
    const found = parent && this.#enter(parent, name);
    this.#folders.set(path, found);
    return found;
  }

  #enter(parent: ListedFolder, name: BytePath): ListedFolder | undefined {
    const stat = lookMaybe(parent, name);
    if (stat === undefined || kindOf(stat) !== "directory") return undefined;
    parent.scanner.take(name, stat);
    const path = joined(parent.path, name);
    return { path, scanner: new FolderScanner(this.#scan, path) };
  }

  /** SECURITY: an index is a file like any other and can be made to name "../x" (G-13). */
  #checkName(name: BytePath, listed: BytePath): void {
    const ordinary = name !== "" && name !== "." && name !== ".." && !listed.startsWith("/");
    if (ordinary && !(name.length === 4 && name.toLowerCase() === ".git")) return;
    throw failure("SEED_INVALID", `Cannot import "${shown(this.#scan.root)}": its git index names "${shown(listed)}"`);
  }
}

const isFolder = (stat: Stats | undefined): boolean => stat !== undefined && kindOf(stat) === "directory";

function lookMaybe({ scanner }: ListedFolder, name: BytePath): ReturnType<FolderScanner["look"]> {
  try {
    return scanner.look(name);
  } catch (error) {
    if (error instanceof SourceChanged) return undefined;
    throw error;
  }
}
