import { createHash } from "node:crypto";
import { failure } from "../model/error-codes.ts";
import { isOrdinary, joined, parentOf, shown, type BytePath } from "./byte-path.ts";
import { withGitIn, type GitHere } from "./git-here.ts";
import type { GitRepository } from "./git-repository.ts";
import { indexStamp, scanGitFolder } from "./scan-git-folder.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import { scanEntry, type Scan } from "./scan.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";

/** A path that git lists, relative to where it was asked. */
export interface ListedPath {
  readonly path: BytePath;
  /** A submodule, or a repository inside that the outer one does not know. */
  readonly repository: boolean;
}

export interface RepositoryScanOptions {
  readonly control: JobControl;
  /** Scans a repository inside this one; false when there is none. */
  scanInner(path: BytePath): Promise<boolean>;
}

/**
 * What git tracks and what it would offer to add, below `top` of the seed. Tracked files that are gone are left out, as is everything
 * that is ignored, also by the user's own ignore file. `.git` comes along when `top` is the top of the work tree.
 */
export async function scanRepository(
  scan: Scan,
  top: BytePath,
  repository: GitRepository,
  options: RepositoryScanOptions,
): Promise<void> {
  const folder = joined(scan.root, top);
  await withGitIn(folder, repository, options.control.signal, async (git) => {
    const stamp = indexStamp(repository);
    const { listed, indexDigest } = await listFiles(git, folder);
    await addListed(scan, top, listed, options);
    if (folder !== repository.workTree) return;
    const head = await git(["rev-parse", "--quiet", "--verify", "HEAD"]);
    if (top === "") scan.head = head.exitCode === 0 ? head.stdout.toString("latin1").trim() : null;
    if (repository.owned) scan.repositories.push(await scanGitFolder(top, repository, indexDigest, git));
    else scan.leftOut.push(joined(top, ".git"));
    if (indexStamp(repository) !== stamp) throw new SourceChanged(joined(repository.gitDir, "index"));
  });
}

async function listFiles(git: GitHere, folder: BytePath): Promise<{ listed: ListedPath[]; indexDigest: string }> {
  const result = await git(["ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude-standard"]);
  const hidden = result.stderr.match(/could not open directory '(.*)': Permission denied/)?.[1];
  if (hidden !== undefined) {
    throw failure("SEED_UNREADABLE", `Cannot read "${joined(shown(folder), hidden)}": permission denied`);
  }
  if (result.exitCode !== 0) {
    throw failure("SEED_INVALID", `Cannot list the git project "${shown(folder)}": ${lastLine(result.stderr)}`, {
      hint: "Run `git status` there and repair what it reports",
    });
  }
  return parseListing(result.stdout.toString("latin1"));
}

/** `? PATH` for what is not tracked, else `TAG MODE HASH STAGE<tab>PATH`. */
function parseListing(listing: string): { listed: ListedPath[]; indexDigest: string } {
  const digest = createHash("sha256");
  const listed = new Map<BytePath, ListedPath>();
  for (const record of listing.split("\0")) {
    if (record === "") continue;
    if (record.startsWith("? ")) {
      const repository = record.endsWith("/");
      const path = repository ? record.slice(2, -1) : record.slice(2);
      listed.set(path, { path, repository });
      continue;
    }
    digest.update(record, "latin1").update("\0");
    const path = record.slice(record.indexOf("\t") + 1);
    listed.set(path, { path, repository: record.startsWith("160000 ", 2) });
  }
  return { listed: [...listed.values()], indexDigest: digest.digest("hex") };
}

async function addListed(
  scan: Scan,
  top: BytePath,
  listed: readonly ListedPath[],
  options: RepositoryScanOptions,
): Promise<void> {
  const folders = new RealFolders(scan, top);
  let count = 0;
  for (const { path: name, repository } of listed) {
    if (++count % 512 === 0) checkAborted(options.control);
    // SECURITY: an index is a file like any other and can be made to name "../x" (G-13)
    if (!isOrdinary(name) || name.split("/").some((part) => part.toLowerCase() === ".git")) {
      throw failure("SEED_INVALID", `Cannot import "${shown(scan.root)}": its git index names "${shown(name)}"`);
    }
    const path = joined(top, name);
    // SECURITY: a tracked folder may have become a link to anywhere; what git tracked below it is gone (G-01)
    if (!folders.add(parentOf(path))) continue;
    const entry = scanListed(scan.root, path);
    if (entry === "missing") continue;
    if (entry === undefined) scan.leftOut.push(path);
    else if (entry.kind !== "directory") scan.entries.push(entry);
    else if (repository) {
      folders.add(path);
      await options.scanInner(path);
    }
  }
}

function scanListed(root: BytePath, path: BytePath): ReturnType<typeof scanEntry> | "missing" {
  try {
    return scanEntry(root, path);
  } catch (error) {
    const failed = sourceFailure(joined(root, path), error);
    if (failed instanceof SourceChanged) return "missing"; // deleted in the work tree
    throw failed;
  }
}

/** Folders on the way to listed files: each is added once, and only when it is no link. */
class RealFolders {
  readonly #scan: Scan;
  readonly #known: Map<BytePath, boolean>;

  constructor(scan: Scan, top: BytePath) {
    this.#scan = scan;
    this.#known = new Map([[top, true]]);
  }

  add(path: BytePath): boolean {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const real = this.add(parentOf(path)) && this.#isFolder(path);
    this.#known.set(path, real);
    return real;
  }

  #isFolder(path: BytePath): boolean {
    const entry = scanListed(this.#scan.root, path);
    if (entry === "missing" || entry?.kind !== "directory") return false;
    this.#scan.entries.push(entry);
    return true;
  }
}

function lastLine(text: string): string {
  return (
    text
      .split("\n")
      .at(-1)
      ?.replace(/^(fatal|error): /, "") ?? ""
  );
}
