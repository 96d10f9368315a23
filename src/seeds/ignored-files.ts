import { readdirSync, type Dirent } from "node:fs";
import type { Cover } from "../policy/path-glob.ts";
import { isSecretPath } from "../policy/secret-names.ts";
import { joined, toFs, type BytePath } from "./byte-path.ts";
import type { IncludedPaths } from "./included-paths.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import type { ListedFiles } from "./listed-files.ts";
import type { Scan } from "./scan.ts";
import { sourceFailure } from "./seed-errors.ts";

export interface IgnoredFilesOptions {
  readonly control: JobControl;
  readonly included: IncludedPaths;
  /** Absolute folders that are never seeded. */
  readonly excluded: ReadonlySet<BytePath>;
}

/** Adds to a scan what git ignores and what is to come along, and notes what stays. `top` is the folder of the scan that git's paths begin at. */
export class IgnoredFiles {
  readonly #scan: Scan;
  readonly #top: BytePath;
  readonly #listed: ListedFiles;
  readonly #options: IgnoredFilesOptions;

  constructor(scan: Scan, top: BytePath, listed: ListedFiles, options: IgnoredFilesOptions) {
    this.#scan = scan;
    this.#top = top;
    this.#listed = listed;
    this.#options = options;
  }

  /**
   * Of `ls-files -z --others --ignored --directory`: a folder has a slash at its end. Of one that git ignores, nothing else is listed; one that just has
   * nothing but ignored files in it is listed with them, and is skipped.
   */
  add(listing: string): void {
    const records = listing.split("\0").filter((record) => record !== "" && record !== "./");
    const above = new Set(records.flatMap(foldersAbove));
    for (const record of records) {
      if (above.has(record)) continue;
      const path = record.replace(/\/$/, "");
      const cover = this.#options.included.covers(joined(this.#top, path));
      const { ignored } = this.#scan;
      const before = ignored.taken.files + ignored.leftSecrets.length;
      if (record !== path && cover !== "none") this.#walk(path, cover);
      else if (cover === "all") this.#take(path);
      const isLeft = cover !== "all" && ignored.taken.files + ignored.leftSecrets.length === before;
      if (isLeft) ignored.left.push(joined(this.#top, record));
    }
  }

  #walk(top: BytePath, cover: Cover): void {
    const pending: { folder: BytePath; cover: Cover }[] = [{ folder: top, cover }];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      checkAborted(this.#options.control);
      const { folder } = at;
      const absolute = joined(this.#scan.root, joined(this.#top, folder));
      if (this.#options.excluded.has(absolute)) {
        this.#scan.leftOut.push(joined(this.#top, folder));
        continue;
      }
      if (at.cover === "all") this.#listed.addFolder(folder);
      for (const entry of entriesIn(absolute)) {
        // SECURITY: a checkout below an ignored folder is a folder like any other: what its own git tracks may be a secret too (G-32)
        if (entry.name.toLowerCase() === ".git") continue;
        const path = joined(folder, entry.name);
        const found = at.cover === "all" ? "all" : this.#options.included.covers(joined(this.#top, path));
        if (found === "none") continue;
        if (entry.isDirectory()) pending.push({ folder: path, cover: found });
        else if (found === "all") this.#take(path);
      }
    }
  }

  #take(path: BytePath): void {
    const inScan = joined(this.#top, path);
    const { ignored } = this.#scan;
    const secret = isSecretPath(inScan);
    // SECURITY: a secret stays where no glob names it (G-32)
    if (secret && !this.#options.included.lets(inScan)) {
      ignored.leftSecrets.push(inScan);
      return;
    }
    const stat = this.#listed.addFile(path);
    if (stat === undefined) return;
    ignored.taken.files += 1;
    ignored.taken.bytes += stat.size;
    if (secret) ignored.takenSecrets.push(inScan);
  }
}

/** Each with its slash. */
function foldersAbove(record: BytePath): BytePath[] {
  const slashes = [...record.matchAll(/\//g)].map(({ index }) => record.slice(0, index + 1));
  return slashes.filter((folder) => folder !== record);
}

/** By name, as bytes. */
function entriesIn(folder: BytePath): Dirent[] {
  try {
    const entries = readdirSync(toFs(folder), { encoding: "latin1", withFileTypes: true });
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    throw sourceFailure(folder, error);
  }
}
