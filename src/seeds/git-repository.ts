import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { errnoOf } from "../base/errors.ts";
import { pointsBack } from "../git/points-back.ts";
import { failure } from "../model/error-codes.ts";
import { borrowsObjects } from "./borrowed-objects.ts";
import { joined, parentOf, shown, toBytePath, toFs, type BytePath } from "./byte-path.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";

/** A git repository by its work tree. All paths are absolute. */
export interface GitRepository {
  readonly workTree: BytePath;
  /** What belongs to this checkout: HEAD and the index. */
  readonly gitDir: BytePath;
  /** What all checkouts of the repository share: objects and refs. The same as `gitDir` unless this is a linked worktree. */
  readonly commonDir: BytePath;
  /** Whether `.git` may be taken along. */
  readonly owned: boolean;
}

/** The repository whose work tree has `folder` as its top; undefined when there is none. */
export function findRepositoryAt(folder: BytePath): GitRepository | undefined {
  const dotGit = joined(folder, ".git");
  const stat = lstatSync(toFs(dotGit), { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isFile()) return linkedRepository(folder, dotGit);
  if (!stat.isDirectory() && !stat.isSymbolicLink()) return undefined;
  if (!looksLikeGitDir(dotGit)) return undefined;
  checkOrdinary(dotGit);
  const owned = stat.isDirectory() && !leadsElsewhere(dotGit);
  return { workTree: folder, gitDir: dotGit, commonDir: dotGit, owned };
}

/** The repository that `folder` is in or the top of, as git finds it. */
export function findRepository(folder: BytePath): GitRepository | undefined {
  for (let at = folder; ; at = parentOf(at) || "/") {
    const found = findRepositoryAt(at);
    if (found !== undefined || at === "/") return found;
  }
}

/** `.git` is a file that names the folder: a submodule or a linked worktree. */
function linkedRepository(folder: BytePath, dotGit: BytePath): GitRepository | undefined {
  const text = readSmallFile(dotGit)?.toString("latin1");
  const target = text?.match(/^gitdir: ([^\n]+)/)?.[1];
  if (target === undefined) return undefined;
  const gitDir = real(absolute(folder, target));
  if (gitDir === undefined || !looksLikeGitDir(gitDir)) {
    // Seeding it as a plain folder would take along what git ignores.
    throw failure(
      "SEED_INVALID",
      `Cannot import "${shown(folder)}": its .git file names a repository that is not there`,
      {
        hint: "Repair the checkout with `git worktree repair`, or remove the .git file to import every file",
      },
    );
  }
  checkOrdinary(gitDir);
  const common = readSmallFile(joined(gitDir, "commondir"))
    ?.toString("latin1")
    .replace(/[\r\n]+$/, "");
  const commonDir = common === undefined ? gitDir : real(absolute(gitDir, common));
  if (commonDir === undefined) return undefined;
  checkOrdinary(commonDir);
  // SECURITY: the history of a repository that does not know this folder stays where it is (G-01).
  const owned = pointsBack(folder, gitDir, commonDir) && !leadsElsewhere(gitDir, commonDir);
  return { workTree: folder, gitDir, commonDir, owned };
}

const READ_BY_NAME = [
  "HEAD",
  "config",
  "index",
  "info",
  "info/exclude",
  "info/grafts",
  "objects",
  "packed-refs",
  "refs",
  "reftable",
  "shallow",
] as const;

/** SECURITY: git would wait for a pipe of such a name; this tells at once what `git-command.ts` finds out later (G-13). */
function checkOrdinary(gitDir: BytePath): void {
  for (const name of READ_BY_NAME) {
    const path = joined(gitDir, name);
    const stat = lstatSync(toFs(path), { throwIfNoEntry: false });
    if (stat === undefined || stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) continue;
    throw failure("SEED_INVALID", `Cannot import a git project: "${shown(path)}" is no ordinary file`, {
      hint: "Remove it, then try again",
    });
  }
}

/** SECURITY: the same trick with a link, a `commondir` or borrowed objects inside `.git` (G-01). */
function leadsElsewhere(gitDir: BytePath, commonDir = gitDir): boolean {
  if (lstatSync(toFs(joined(commonDir, "commondir")), { throwIfNoEntry: false })) return true;
  const linked = (folder: BytePath) =>
    READ_BY_NAME.some((name) => lstatSync(toFs(joined(folder, name)), { throwIfNoEntry: false })?.isSymbolicLink());
  return linked(commonDir) || (gitDir !== commonDir && linked(gitDir)) || borrowsObjects(joined(commonDir, "objects"));
}

function looksLikeGitDir(gitDir: BytePath): boolean {
  try {
    lstatSync(toFs(joined(gitDir, "HEAD")));
    const shared = lstatSync(toFs(joined(gitDir, "commondir")), { throwIfNoEntry: false }) !== undefined;
    return shared || statSync(toFs(joined(gitDir, "objects"))).isDirectory();
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw sourceFailure(gitDir, error);
  }
}

/** A regular file of at most 64 MiB that is no link; undefined when it is not there. */
export function readSmallFile(path: BytePath): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(toFs(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const failed = sourceFailure(path, error);
    if (failed instanceof SourceChanged) return undefined;
    throw failed;
  }
  try {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= 64 * 1024 * 1024 ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

function absolute(base: BytePath, path: BytePath): BytePath {
  return path.startsWith("/") ? path : joined(base, path);
}

function real(path: BytePath): BytePath | undefined {
  try {
    return toBytePath(realpathSync(toFs(path), { encoding: "buffer" }));
  } catch {
    return undefined; // not there, or not to be seen: the same for whoever asks
  }
}
