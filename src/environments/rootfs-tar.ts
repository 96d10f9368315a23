import { runBuildCommand } from "./build-process.ts";
import type { BuildContext } from "./definition.ts";
import { addSystemFiles } from "./system-files.ts";
import { walkTree } from "../base/walk-tree.ts";
import type { IdMap } from "../base/id-map.ts";
import { GUEST_FOLDER } from "../walls/sandbox-layout.ts";
import { chmod, lchown, rm } from "node:fs/promises";
import { join } from "node:path";

/** Unpacks a root file system and makes it one that a sandbox may have: owners mapped, no device, no setuid, the user `agent`. */
export async function unpackRootfs(tar: string, context: BuildContext, env: NodeJS.ProcessEnv): Promise<void> {
  const { rootfs, idMap, signal, progress } = context;
  progress({ step: "unpacking the environment" });
  const owners = idMap.kind === "shifted" ? ["--numeric-owner", "--same-owner"] : ["--no-same-owner"];
  // Devices cannot be made by a user, and a wall brings its own /dev.
  const argv = [
    "--extract",
    "--file",
    tar,
    "--directory",
    rootfs,
    "--same-permissions",
    "--delay-directory-restore",
  ] as const;
  await runBuildCommand({ argv: ["tar", ...argv, ...owners, "--exclude=./dev/*"], env, signal, packages: "tar" });
  // SECURITY: an image has nothing to say about what is where a wall mounts the guest program (G-21)
  await rm(join(rootfs, GUEST_FOLDER), { recursive: true, force: true });
  await sanitize(rootfs, idMap, signal);
  await addSystemFiles(rootfs, idMap);
}

async function sanitize(rootfs: string, idMap: IdMap, signal: AbortSignal | undefined): Promise<void> {
  // A file with several names is met several times and may be shifted only once.
  const shifted = new Set<number>();
  for await (const { path, stats } of walkTree(rootfs)) {
    signal?.throwIfAborted();
    if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) {
      await rm(path);
      continue;
    }
    if (stats.nlink > 1 && !stats.isDirectory()) {
      if (shifted.has(stats.ino)) continue;
      shifted.add(stats.ino);
    }
    if (idMap.kind === "shifted") {
      const { uid, gid } = idMap.toHost(stats.uid, stats.gid);
      await lchown(path, uid, gid);
    }
    // SECURITY: no program of an environment gives anybody another identity (G-06)
    const mode = stats.mode & 0o1777;
    if (!stats.isSymbolicLink() && mode !== (stats.mode & 0o7777)) await chmod(path, mode);
  }
}
