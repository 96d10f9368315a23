import { lstatSync, readdirSync, readlinkSync, type BigIntStats } from "node:fs";
import { joined, toFs, type BytePath } from "./byte-path.ts";
import { sourceFailure } from "./seed-errors.ts";

/** One file, folder or link of the source as `lstat` saw it. */
export interface ScannedEntry {
  /** Relative to the seed's root. */
  readonly path: BytePath;
  readonly kind: "file" | "directory" | "symlink";
  readonly mode: number;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly linkTarget: BytePath;
}

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

export interface Scan {
  /** Absolute. */
  readonly root: BytePath;
  readonly entries: ScannedEntry[];
  readonly repositories: ScannedRepository[];
  /** What cannot be seeded: sockets, pipes, devices and git folders that lead elsewhere. */
  readonly leftOut: BytePath[];
  /** The commit that is checked out at the root. */
  head: string | null;
}

/** What was found for a path, or undefined for a socket, pipe or device. Throws the error of `lstat`. */
export function scanEntry(root: BytePath, path: BytePath): ScannedEntry | undefined {
  const absolute = joined(root, path);
  const stat = lstatSync(toFs(absolute), { bigint: true });
  const kind = kindOf(stat);
  if (kind === undefined) return undefined;
  const linkTarget = kind === "symlink" ? readlinkSync(toFs(absolute), { encoding: "latin1" }) : "";
  return {
    path,
    kind,
    mode: Number(stat.mode) & 0o777,
    size: stat.size,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    ino: stat.ino,
    linkTarget,
  };
}

function kindOf(stat: BigIntStats): ScannedEntry["kind"] | undefined {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "directory";
  return stat.isSymbolicLink() ? "symlink" : undefined;
}

/** Names in a folder of the source, sorted by bytes. */
export function namesIn(root: BytePath, path: BytePath): BytePath[] {
  try {
    return readdirSync(toFs(joined(root, path)), { encoding: "latin1" }).sort();
  } catch (error) {
    throw sourceFailure(joined(root, path), error);
  }
}
