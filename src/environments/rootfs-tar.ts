import { runBuildCommand, type BuildCommand } from "./build-process.ts";
import type { BuildContext } from "./definition.ts";
import { addSystemFiles } from "./system-files.ts";
import { isClocheError } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import { walkTree } from "../base/walk-tree.ts";
import { guestProgram } from "../walls/guest-program.ts";
import { idMapArguments } from "../walls/id-map-arguments.ts";
import { GUEST_FOLDER } from "../walls/sandbox-layout.ts";
import { chmod, lchown, open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Unpacks a root file system and makes it one that a sandbox may have: owners mapped, no device, no setuid, the user `agent`. */
export async function unpackRootfs(tar: string, context: BuildContext, env: NodeJS.ProcessEnv): Promise<void> {
  const { rootfs, idMap, signal, progress } = context;
  progress({ step: "unpacking the environment" });
  await unpackTar(tar, rootfs, context, env, idMap.kind === "shifted" ? ["--same-owner"] : ["--no-same-owner"]);
  // SECURITY: an image has nothing to say about what is where a wall mounts the guest program (G-21)
  await rm(join(rootfs, GUEST_FOLDER), { recursive: true, force: true });
  await sanitize(rootfs, signal);
  await addSystemFiles(rootfs, idMap);
}

/** A wall brings its own /dev. Some archives begin their names with `./`, others do not. */
const NO_DEV = ["--anchored", "--exclude=./dev/*", "--exclude=dev/*"] as const;
const EXTRACT = ["tar", "--extract", "--same-permissions", "--delay-directory-restore", ...NO_DEV] as const;
const PACKAGES = "tar";

/** Unpacks an archive into a folder, as the sandbox's root. `more` are options of `tar`. */
export async function unpackTar(
  tar: string,
  folder: string,
  { idMap, signal }: Pick<BuildContext, "idMap" | "signal">,
  env: NodeJS.ProcessEnv,
  more: readonly string[],
): Promise<void> {
  if (idMap.kind === "shifted") {
    await unpackMapped(tar, folder, { idMap, signal }, env, more);
    return;
  }
  await runTar([...EXTRACT, ...more, "--file", tar, "--directory", folder], { env, signal });
}

/**
 * SECURITY: unpacked under the sandbox's ids, which no account of the host has. So no file is root's with a setuid bit, not for a moment, and an archive
 * that takes over the program which unpacks it gains no account (G-24).
 */
async function unpackMapped(
  tar: string,
  folder: string,
  { idMap, signal }: Pick<BuildContext, "idMap" | "signal">,
  env: NodeJS.ProcessEnv,
  more: readonly string[],
): Promise<void> {
  await giveToRoot(folder, idMap);
  await using input = await open(tar, "r");
  const mapped = [guestProgram(), "mapped", ...idMapArguments(idMap), "--in", folder, "--"] as const;
  const argv = [...mapped, ...EXTRACT, "--numeric-owner", ...more, "--file", "-"] as const;
  await runTar(argv, { env, signal, stdin: input.fd });
}

/** Also when it could not do all of it, as long as nothing is missing that a sandbox may have. */
async function runTar(
  argv: readonly [string, ...string[]],
  more: Pick<BuildCommand, "env" | "signal" | "stdin">,
): Promise<void> {
  let problems = 0;
  let ends = 0;
  const onLine = (line: string) => {
    if (LAST_WORDS.test(line)) ends += 1;
    else if (![UNKNOWN_OWNER, NO_DEVICE].some((known) => known.test(line))) problems += 1;
  };
  try {
    await runBuildCommand({ argv, onLine, packages: PACKAGES, ...more });
  } catch (error) {
    if (more.signal?.aborted || problems > 0 || ends === 0 || !isClocheError(error)) throw error;
  }
}

/** A sandbox has 65,536 ids. What has another in an image is its root's. */
const UNKNOWN_OWNER = /: Cannot change ownership to uid \d+, gid \d+: Invalid argument$/;
/** Only the host's root can make one, and no sandbox gets any. */
const NO_DEVICE = /: Cannot mknod: Operation not permitted$/;
const LAST_WORDS = /^tar: Exiting with failure status due to previous errors$/;

async function giveToRoot(rootfs: string, idMap: IdMap): Promise<void> {
  const { uid, gid } = idMap.toHost(0, 0);
  await lchown(rootfs, uid, gid);
}

async function sanitize(rootfs: string, signal: AbortSignal | undefined): Promise<void> {
  for await (const { path, stats } of walkTree(rootfs)) {
    signal?.throwIfAborted();
    if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) {
      await rm(path);
      continue;
    }
    // SECURITY: no program of an environment gives anybody another identity (G-06)
    const mode = stats.mode & 0o1777;
    if (!stats.isSymbolicLink() && mode !== (stats.mode & 0o7777)) await chmod(path, mode);
  }
}
