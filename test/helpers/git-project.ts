import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { currentIdMap } from "../../src/base/id-map.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Seeds } from "../../src/contracts/seeds.ts";
import { createSeeds } from "../../src/seeds/create-seeds.ts";

export interface GitProject {
  /** A folder of the test's own, with all the others in it. */
  readonly base: string;
  /** A repository with one commit. */
  readonly project: string;
  /** With an empty cache. */
  readonly seeds: Seeds;
}

/** Before each test: a repository to import, and a user's home with no settings of git. */
export function useGitProject(take: (made: GitProject) => void): void {
  const home = process.env["HOME"];
  let base: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "cloche-git-seeds-")));
    process.env["HOME"] = join(base, "home");
    mkdirSync(join(base, "home"));
    const project = join(base, "project");
    makeRepository(project);
    const seeds = createSeeds({ cachePath: join(base, "cache"), idMap: currentIdMap(), log: silentLog });
    take({ base, project, seeds });
  });
  afterEach(() => {
    process.env["HOME"] = home ?? "/";
    rmSync(base, { recursive: true, force: true });
  });
}

/** What git prints; it trusts every folder, and has a name. */
export function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "safe.directory=*"];
  const env = { ...process.env, GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" };
  const all = [...identity, "-c", "protocol.file.allow=always", ...args];
  return execFileSync("git", all, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env });
}

/** A repository with one commit, and rules that ignore `.env` and `build/`. */
export function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  writeFileSync(join(folder, ".gitignore"), ".env\nbuild/\n");
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "main.c"), "int main;\n");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "first");
}
