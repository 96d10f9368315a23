import { statSync } from "node:fs";
import type { IdMap } from "../../base/id-map.ts";
import type { WallSpec } from "../../contracts/backend.ts";
import { AGENT } from "../../model/names.ts";
import {
  GUEST_FOLDER,
  allKernelFiles,
  guestCommand,
  maskedKernelFiles,
  tmpfsBytes,
} from "../../walls/sandbox-layout.ts";
import { DEVICES, STAGE, hostFolderMounts, inheritedArguments, passedLayers } from "./stage.ts";

/** The argument vector that bubblewrap gets, run by `cloche-guest wall` as root of its user namespace. */
export function bubblewrapArguments(spec: WallSpec, idMap: IdMap, commandsApart: boolean): string[] {
  const size = String(tmpfsBytes(spec.limits));
  const single = idMap.kind === "single";
  // prettier-ignore
  return [
    "bwrap",
    // SECURITY: own pid, ipc, uts and cgroup namespaces; user, mount and network (loopback only) are made by the launcher (G-03, G-04, G-07).
    "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    // A user's only id becomes agent's in a second user namespace: bubblewrap starts as root of the first.
    ...(single ? ["--unshare-user", "--uid", String(AGENT.uid), "--gid", String(AGENT.gid), "--cap-add", "ALL"] : []),
    "--as-pid-1", "--clearenv", "--hostname", spec.hostname,
    "--bind", `${STAGE}/root`, "/",
    // SECURITY: of the host's folders the sandbox gets the launcher's overlays, read-only (G-01, G-02, G-05).
    ...hostFolderMounts(spec.rootfs.hostPaths).flatMap(({ source, target }) => ["--ro-bind", source, target]),
    "--dev-bind", DEVICES, "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm",
    "--proc", "/proc",
    // SECURITY: kernel files masked (G-07).
    ...(single ? maskedKernelFiles().flatMap(mask) : []),
    "--perms", "1777", "--size", size, "--tmpfs", "/tmp",
    "--perms", "0755", "--size", size, "--tmpfs", "/run",
    "--bind", `${STAGE}/workspace`, "/workspace",
    "--tmpfs", GUEST_FOLDER,
    "--ro-bind", `${STAGE}/guest`, `${GUEST_FOLDER}/guest`,
    "--chdir", "/",
    "--", ...guestCommand(spec.hostname, passedLayers(spec.layers), ...inheritedArguments(spec.layers, commandsApart)),
    // SECURITY: a guest program that may still mount masks them itself, ten times as quickly (G-07).
    ...(single ? [] : allKernelFiles().flatMap((path) => ["--mask", path])),
  ];
}

const mask = (path: string): string[] =>
  statSync(path).isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
