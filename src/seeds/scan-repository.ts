import { createHash } from "node:crypto";
import { failure } from "../model/error-codes.ts";
import { joined, shown, type BytePath } from "./byte-path.ts";
import { withGitIn, type GitHere } from "./git-here.ts";
import type { GitRepository } from "./git-repository.ts";
import { listsOf } from "./ignore-sources.ts";
import { IgnoredFiles } from "./ignored-files.ts";
import type { IncludedPaths } from "./included-paths.ts";
import { indexStamp, scanGitFolder } from "./scan-git-folder.ts";
import type { JobControl } from "./job-control.ts";
import { ListedFiles } from "./listed-files.ts";
import type { Scan } from "./scan.ts";
import { SourceChanged } from "./seed-errors.ts";

export interface RepositoryScanOptions {
  readonly control: JobControl;
  /** Scans a repository inside this one; false when there is none. */
  scanInner(path: BytePath): Promise<boolean>;
  readonly included: IncludedPaths;
  /** Absolute folders that are never seeded. */
  readonly excluded: ReadonlySet<BytePath>;
}

/**
 * What git tracks and what it would offer to add, below `top` of the seed. Tracked files that are gone are left out, as is everything
 * that is ignored, also by the user's own ignore file, unless it is included. `.git` comes along when `top` is the top of the work tree.
 */
export async function scanRepository(
  scan: Scan,
  top: BytePath,
  repository: GitRepository,
  options: RepositoryScanOptions,
): Promise<void> {
  const folder = joined(scan.root, top);
  await withGitIn(folder, repository, options.control.signal, async (git, userExcludes) => {
    const stamp = indexStamp(repository);
    const listed = new ListedFiles(scan, top, options);
    const others = listOthers(git, folder);
    const ignored = listIgnored(git);
    for (const one of [others, ignored]) one.catch(() => undefined); // heard below, maybe after it failed
    let tracked: Buffer;
    try {
      tracked = await listTracked(git, folder);
      // While git looks for what it does not track, what it does track is looked at here.
      await listed.addTracked(tracked.toString("latin1"));
    } finally {
      await Promise.allSettled([others, ignored]);
    }
    await listed.addOthers((await others).toString("latin1"));
    new IgnoredFiles(scan, top, listed, options).add((await ignored).toString("latin1"));
    scan.ignoring.push({ path: top, lists: listsOf(repository, folder, userExcludes) });
    if (folder !== repository.workTree) return;
    const indexDigest = createHash("sha256").update(tracked).digest("hex");
    const [head, scanned] = await Promise.all([
      git(["rev-parse", "--quiet", "--verify", "HEAD"]),
      repository.owned ? scanGitFolder(top, repository, indexDigest, git) : undefined,
    ]);
    if (top === "") scan.head = head.exitCode === 0 ? head.stdout.toString("latin1").trim() : null;
    if (scanned !== undefined) scan.repositories.push(scanned);
    else scan.leftOut.push(joined(top, ".git"));
    if (indexStamp(repository) !== stamp) throw new SourceChanged(joined(repository.gitDir, "index"));
  });
}

/** `TAG MODE HASH STAGE<tab>PATH<nul>` for each entry of the index. */
function listTracked(git: GitHere, folder: BytePath): Promise<Buffer> {
  return listFiles(git, folder, ["-v", "--stage", "--cached"]);
}

/** `PATH<nul>` for each file that git would offer to add; `PATH/<nul>` for a repository that it does not know. */
function listOthers(git: GitHere, folder: BytePath): Promise<Buffer> {
  return listFiles(git, folder, ["--others", "--exclude-standard"]);
}

/**
 * `PATH<nul>` for each file that git ignores, `PATH/<nul>` for a folder of which it ignores everything: git does not look into it, and nobody needs to be
 * able to. What git has to say about it is said by the list of the others too.
 */
async function listIgnored(git: GitHere): Promise<Buffer> {
  const { stdout } = await git(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
  return stdout;
}

async function listFiles(git: GitHere, folder: BytePath, which: readonly string[]): Promise<Buffer> {
  const result = await git(["ls-files", "-z", ...which]);
  const hidden = result.stderr.match(/could not open directory '(.*)': Permission denied/)?.[1];
  if (hidden !== undefined) {
    throw failure("SEED_UNREADABLE", `Cannot read "${joined(shown(folder), hidden)}": permission denied`);
  }
  if (result.exitCode !== 0) {
    throw failure("SEED_INVALID", `Cannot list the git project "${shown(folder)}": ${lastLine(result.stderr)}`, {
      hint: "Run `git status` there and repair what it reports",
    });
  }
  return result.stdout;
}

function lastLine(text: string): string {
  return (
    text
      .split("\n")
      .at(-1)
      ?.replace(/^(fatal|error): /, "") ?? ""
  );
}
