import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The repository that the demo's agent pushes to: a bare one on this host, in place of a forge. */
export interface DemoRepository {
  readonly url: string;
  /** The subject of the last commit of each branch. */
  branches(): Promise<Readonly<Record<string, string>>>;
  /** Whether any object of it has a text in it. */
  holds(text: string): Promise<boolean>;
}

/** With one commit that has nothing in it; undefined where the host has no git. */
export async function makeRepository(folder: string): Promise<DemoRepository | undefined> {
  const path = join(folder, "slug.git");
  await mkdir(path);
  const git = async (...words: string[]): Promise<string> =>
    (await run("git", ["-C", path, ...words], { env: environment(), maxBuffer: 1 << 26 })).stdout.trim();
  try {
    await git("init", "--quiet", "--bare", "--initial-branch=main");
    const tree = await git("hash-object", "-t", "tree", "-w", "/dev/null");
    await git("update-ref", "refs/heads/main", await git("commit-tree", "-m", "The beginning", tree));
  } catch {
    return undefined;
  }
  return {
    url: pathToFileURL(path).href,
    branches: async () =>
      Object.fromEntries(
        (await git("for-each-ref", "--format=%(refname:short)%09%(subject)"))
          .split("\n")
          .map((line) => line.split("\t")),
      ) as Record<string, string>,
    holds: async (text) => (await git("cat-file", "--batch-all-objects", "--batch")).includes(text),
  };
}

/** Nothing of the user's own configuration. */
const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "demo",
  GIT_AUTHOR_EMAIL: "demo@example.test",
  GIT_COMMITTER_NAME: "demo",
  GIT_COMMITTER_EMAIL: "demo@example.test",
});
