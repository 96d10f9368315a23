import { runBuildCommand } from "./build-process.ts";
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

/** Only root can make devices, and a wall brings its own /dev. */
const EXTRACT = ["tar", "--extract", "--same-permissions", "--delay-directory-restore", "--exclude=./dev/*"] as const;
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
  const argv = [...EXTRACT, ...more, "--file", tar, "--directory", folder] as const;
  await runBuildCommand({ argv, env, signal, packages: PACKAGES });
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
  let problems = 0;
  const onLine = (line: string) => {
    if (!UNKNOWN_OWNER.test(line) && !LAST_WORDS.test(line)) problems += 1;
  };
  try {
    await runBuildCommand({ argv, env, stdin: input.fd, onLine, signal, packages: PACKAGES });
  } catch (error) {
    if (signal?.aborted || problems > 0 || !isClocheError(error)) throw error;
  }
}

/** A sandbox has 65,536 ids. What has another in an image is its root's. */
const UNKNOWN_OWNER = /: Cannot change ownership to uid \d+, gid \d+: Invalid argument$/;
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
