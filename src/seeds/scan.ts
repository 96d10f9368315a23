import { constants, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import type { IgnoreRepository } from "../policy/ignore-rules.ts";
import { isPlain, joined, toBytePath, toFs, type BytePath } from "./byte-path.ts";
import { ScannedEntries } from "./scanned-entries.ts";
import { sourceFailure } from "./seed-errors.ts";

/** A git repository in the source whose `.git` becomes part of the seed. */
export interface ScannedRepository {
  /** Of its work tree, relative to the seed's root; empty for the root. */
  readonly path: BytePath;
  /** Absolute, as is `objects`. */
  readonly workTree: BytePath;
  readonly objects: BytePath;
  /** Files to be written below `.git`, safe configuration included. */
  readonly files: readonly { readonly name: BytePath; readonly content: Buffer }[];
  readonly index: { readonly content: Buffer; readonly mtimeNs: bigint } | undefined;
  /** What the index holds, without the times that a mere `git status` renews. */
  readonly indexDigest: string;
  /** Hashes whose history comes along: what refs, HEAD and a merge under way name. */
  readonly roots: readonly string[];
}

/** What git ignores, and what became of it. */
export interface IgnoredFound {
  /** What stayed; a folder with a slash at its end, once for all that is in it. */
  readonly left: BytePath[];
  /** Files that stayed because they are likely to be secrets. */
  readonly leftSecrets: BytePath[];
  readonly taken: { files: number; bytes: number };
  /** Files that came although they are likely to be secrets. */
  readonly takenSecrets: BytePath[];
}

const noneIgnored = (): IgnoredFound => ({
  left: [],
  leftSecrets: [],
  taken: { files: 0, bytes: 0 },
  takenSecrets: [],
});

export interface Scan {
  /** Absolute, without a link on the way. */
  readonly root: BytePath;
  readonly entries: ScannedEntries;
  readonly repositories: ScannedRepository[];
  /** What each work tree ignores besides what the ignore files of the seed say. */
  readonly ignoring: IgnoreRepository[];
  /** What cannot be seeded: sockets, pipes, devices and git folders that lead elsewhere. */
  readonly leftOut: BytePath[];
  readonly ignored: IgnoredFound;
  /** The commit that is checked out at the root. */
  head: string | null;
}

/** A scan that has found nothing yet. */
export const emptyScan = (root: BytePath): Scan => ({
  root,
  entries: new ScannedEntries(),
  repositories: [],
  ignoring: [],
  leftOut: [],
  ignored: noneIgnored(),
  head: null,
});

/** Where a path of the source really is. */
export function realPath(path: BytePath): BytePath {
  try {
    return toBytePath(realpathSync(toFs(path), { encoding: "buffer" }));
  } catch (error) {
    throw sourceFailure(path, error);
  }
}

const { S_IFMT, S_IFREG, S_IFDIR, S_IFLNK } = constants;
const MAYBE = { throwIfNoEntry: false } as const;

/** Looks at the names in one folder of the source; the folder's own name is looked at once. */
export class FolderScanner {
  readonly #scan: Scan;
  readonly #folder: BytePath;
  readonly #prefix: BytePath;
  readonly #plain: boolean;

  constructor(scan: Scan, folder: BytePath) {
    this.#scan = scan;
    this.#folder = folder;
    this.#prefix = `${joined(scan.root, folder)}/`;
    this.#plain = isPlain(this.#prefix);
  }

  /** `plain` says that the name is known to be so. Undefined when nothing has the name. */
  look(name: BytePath, plain = isPlain(name)): Stats | undefined {
    const absolute = this.#prefix + name;
    try {
      return lstatSync(this.#plain && plain ? absolute : toFs(absolute), MAYBE);
    } catch (error) {
      throw sourceFailure(absolute, error);
    }
  }

  /** Adds a file, folder or link to the scan. */
  take(name: BytePath, stat: Stats): void {
    const linkTarget = (stat.mode & S_IFMT) === S_IFLNK ? readLink(this.#prefix + name) : undefined;
    this.#scan.entries.add(this.#folder, name, stat, linkTarget);
  }
}

export function kindOf(stat: Stats): "file" | "directory" | "symlink" | "other" {
  const kind = stat.mode & S_IFMT;
  if (kind === S_IFREG) return "file";
  if (kind === S_IFDIR) return "directory";
  return kind === S_IFLNK ? "symlink" : "other";
}

function readLink(absolute: BytePath): BytePath {
  try {
    return readlinkSync(toFs(absolute), { encoding: "latin1" });
  } catch (error) {
    throw sourceFailure(absolute, error);
  }
}

/** Names in a folder of the source, sorted by bytes. */
export function namesIn(root: BytePath, path: BytePath): BytePath[] {
  try {
    return readdirSync(toFs(joined(root, path)), { encoding: "latin1" }).sort();
  } catch (error) {
    throw sourceFailure(joined(root, path), error);
  }
}
