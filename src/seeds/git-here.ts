import { closeSync, constants, openSync } from "node:fs";
import { joined, parentOf, toBytePath, toFs, type BytePath } from "./byte-path.ts";
import { runGit, type GitOptions, type GitResult } from "../git/git-command.ts";
import type { GitRepository } from "./git-repository.ts";
import { sourceFailure } from "./seed-errors.ts";

/** Runs git in a folder of a work tree. */
export type GitHere = (args: readonly string[], options?: Partial<GitOptions>) => Promise<GitResult>;

/**
 * Gives `use` a git that works in `folder`, whatever bytes its name has: the folder is opened and named by its descriptor. And the user's own ignore file.
 * SECURITY: the work tree is always told, because a repository's own configuration may name any other folder (G-01).
 */
export async function withGitIn<T>(
  folder: BytePath,
  repository: GitRepository,
  signal: AbortSignal,
  use: (git: GitHere, userExcludes: BytePath | undefined) => Promise<T>,
): Promise<T> {
  const fd = openFolder(folder);
  try {
    const cwd = `/proc/${process.pid}/fd/${fd}`;
    const up = "../".repeat(folder.slice(repository.workTree.length).split("/").filter(Boolean).length);
    const gitDir = `--git-dir=${up}.git`;
    const configured = await userExcludes([gitDir], cwd, signal);
    const excludes = configured === undefined ? [] : ["-c", `core.excludesFile=${configured}`];
    return await use(
      (args, options) =>
        runGit([...excludes, gitDir, `--work-tree=${up || "."}`, ...args], { signal, cwd, ...options }),
      configured === undefined ? usualExcludes() : joinedTo(repository.workTree, toBytePath(configured)),
    );
  } finally {
    closeSync(fd);
  }
}

/** Whether the repository ignores the whole folder: then its rules say nothing about what is in it. */
export async function isIgnored(folder: BytePath, repository: GitRepository, signal: AbortSignal): Promise<boolean> {
  if (folder === repository.workTree) return false;
  const parent = parentOf(folder);
  const name = folder.slice(parent.length + 1);
  return withGitIn(parent, repository, signal, async (git) => {
    const asked = await git(["check-ignore", "-z", "--stdin"], { input: Buffer.from(joined(".", name), "latin1") });
    return asked.exitCode === 0;
  });
}

/** SECURITY: what the user's own ignore file hides stays home too (G-01); nothing else is taken of the user's configuration. */
async function userExcludes(where: readonly string[], cwd: string, signal: AbortSignal): Promise<string | undefined> {
  const args = [...where, "config", "--type=path", "--get", "core.excludesFile"];
  const asked = await runGit(args, { signal, cwd, userConfig: true });
  const path = asked.stdout.toString("utf8").replace(/\n$/, "");
  return asked.exitCode === 0 && path !== "" ? path : undefined;
}

/** Where git looks for it when nothing is configured. */
function usualExcludes(): BytePath | undefined {
  const { XDG_CONFIG_HOME: config, HOME: home } = process.env;
  if (config) return toBytePath(`${config}/git/ignore`);
  return home ? toBytePath(`${home}/.config/git/ignore`) : undefined;
}

const joinedTo = (folder: BytePath, path: BytePath): BytePath => (path.startsWith("/") ? path : joined(folder, path));

function openFolder(folder: BytePath): number {
  try {
    return openSync(toFs(folder), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw sourceFailure(folder, error);
  }
}
