import { chownSync, mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { placesFrom } from "../../src/base/paths.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { builtDebian } from "./built-debian.ts";
import { type CliResult, PROJECT, runProcess, withInstallation } from "./installation.ts";

/** A user id that belongs to nobody. */
export const USER_ID = 54_321;
const PROGRAM = fileURLToPath(new URL("as-user.sh", import.meta.url));

export interface UserOptions {
  readonly userNamespaces?: boolean;
  /** Of `userCache`; without it the user has an empty one. */
  readonly cache?: string;
  /** With a Docker engine that the user may talk to. */
  readonly engine?: boolean;
  /** With the stand-in for smolvm, and what it needs of a system. */
  readonly machines?: boolean;
  readonly timeoutMs?: number;
}

/**
 * Runs a shell script as an ordinary user, with `$CLOCHE` as the built CLI, a home of its own and nothing of root's but the project, bound
 * read-only in a private mount namespace: a checkout may lie where no other user may look.
 */
export async function runAsUser(script: string, options: UserOptions = {}): Promise<CliResult> {
  const home = ownFolder("cl-uh-");
  const engine = options.engine === true ? join(mkdtempSync(join(tmpdir(), "cl-ue-")), "e") : "";
  try {
    return await runProcess("unshare", ["--mount", "--propagation", "private", PROGRAM], {
      env: {
        PATH: process.env["PATH"],
        PROJECT,
        NODE: process.execPath,
        SCRIPT: script,
        USER_ID: String(USER_ID),
        HOME_FOLDER: home,
        CACHE_FOLDER: options.cache ?? "",
        WITH_ENGINE: engine,
        WITH_MACHINES: options.machines === true ? "yes" : "",
        WITHOUT_USER_NAMESPACES: options.userNamespaces === false ? "yes" : "",
      },
      timeoutMs: options.timeoutMs ?? 120_000,
    });
  } finally {
    await removeUserFolder(home);
    if (engine) rmdirSync(dirname(engine));
  }
}

/**
 * A cache of the user's own, with what root's tests have already: a kernel, and the environment `debian:12` as the user would have built it, with one
 * owner for all its files. To be removed by the caller, with `removeUserFolder`.
 */
export async function userCache(): Promise<string> {
  const { cache } = placesFrom(process.env);
  await withInstallation(async ({ sdk }) => {
    await sdk.doctor(); // fetches the kernel
  });
  const built = await builtDebian();
  const folder = ownFolder("cl-uc-");
  for (const name of ["environments", "vm"]) mkdirSync(join(folder, name));
  const name = basename(built).replace(/shifted$/, "single");
  await run("cp", "--archive", built, join(folder, "environments", name));
  await run("cp", "--archive", join(cache, "vm/kernels"), join(folder, "vm"));
  await run("chown", "--recursive", "--no-dereference", `${USER_ID}:${USER_ID}`, folder);
  return folder;
}

/** What is another user's is not removed as it is. */
export async function removeUserFolder(folder: string): Promise<void> {
  chownSync(folder, 0, 0);
  await removeTree(folder);
}

function ownFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  chownSync(folder, USER_ID, USER_ID);
  return folder;
}

/** A copy of a whole system takes long on a disk that is busy. */
const COPY_PATIENCE_MS = 300_000;

async function run(program: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await runProcess(program, args, { timeoutMs: COPY_PATIENCE_MS });
  if (code !== 0) throw new Error(`${program}: ${stderr}`);
}
