import { basename } from "node:path";
import type { IdMap } from "../../base/id-map.ts";
import type { WallSpec } from "../../contracts/backend.ts";
import { AGENT } from "../../model/names.ts";
import {
  GUEST_FOLDER,
  NO_KEEPER,
  guestCommand,
  maskedKernelFiles,
  mountedLayers,
  tmpfsBytes,
} from "../../walls/sandbox-layout.ts";
import {
  STAGE,
  TERMINALS,
  hostFolderMounts,
  inheritedArguments,
  layerMounts,
  passedCount,
  passedLayers,
} from "./stage.ts";

/** What the guest program needs at its start; it drops most of it at once, and all of it for a command. */
// prettier-ignore
const GUEST_CAPABILITIES = [
  "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_NET_ADMIN", "CAP_NET_BIND_SERVICE", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP",
  "CAP_SETUID", "CAP_SYS_ADMIN",
];
const SOCKET_FOLDER = `${GUEST_FOLDER}/socket`;

/** gVisor takes over no descriptor; its guest makes a socket in a folder of the host instead, and has its layers mounted: its mount table is its own. */
export const makesSocket = (runtime: string): boolean => basename(runtime).startsWith("runsc");
export const canInheritDescriptors = (runtime: string): boolean => !makesSocket(runtime);

/** The argument vector of an OCI runtime, run by `cloche-guest wall` as root of its user namespace. Its state ends with the stage. */
export function ociArguments(spec: WallSpec, runtime: string): string[] {
  const id = spec.sandboxName;
  const run = ["run", "--bundle", `${STAGE}/bundle`];
  if (makesSocket(runtime)) {
    return [
      runtime,
      "--root",
      `${STAGE}/state`,
      "--platform=ptrace",
      "--network=none",
      "--ignore-cgroups",
      "--host-uds=create",
      ...run,
      id,
    ];
  }
  const cgroups = basename(runtime).startsWith("crun") ? ["--cgroup-manager=disabled"] : [];
  const passed = String(passedCount(spec.layers));
  return [runtime, "--root", `${STAGE}/state`, ...cgroups, ...run, "--preserve-fds", passed, id];
}

/** The runtime's `config.json`. */
export function ociConfig(spec: WallSpec, runtime: string, idMap: IdMap, commandsApart: boolean): object {
  const ownSocket = makesSocket(runtime);
  const channel = ownSocket
    ? ["--socket", `${SOCKET_FOLDER}/guest.sock`, NO_KEEPER]
    : inheritedArguments(spec.layers, commandsApart);
  const layers = ownSocket ? mountedLayers(spec.layers) : passedLayers(spec.layers);
  const single = idMap.kind === "single";
  const capabilities = single ? ALL_SETS : ALL_SETS.filter((name) => name !== "ambient" && name !== "inheritable");
  const size = `size=${tmpfsBytes(spec.limits)}`;
  const bind = (source: string, destination: string, ...options: string[]) => ({
    destination,
    source,
    type: "bind",
    options: ["rbind", ...options],
  });
  const tmpfs = (destination: string, ...options: string[]) => ({
    destination,
    source: "tmpfs",
    type: "tmpfs",
    options: ["nosuid", "nodev", ...options],
  });
  return {
    ociVersion: "1.0.2",
    hostname: spec.hostname,
    root: { path: `${STAGE}/root`, readonly: false },
    process: {
      terminal: false,
      cwd: "/",
      env: [],
      args: guestCommand(spec.hostname, layers, ...channel),
      user: single ? { uid: AGENT.uid, gid: AGENT.gid } : { uid: 0, gid: 0 },
      noNewPrivileges: true,
      capabilities: Object.fromEntries(capabilities.map((name) => [name, GUEST_CAPABILITIES])),
    },
    mounts: [
      // SECURITY: of the host's folders the sandbox gets the launcher's overlays, read-only (G-01, G-02, G-05).
      ...hostFolderMounts(spec.rootfs.hostPaths).map(({ source, target }) =>
        bind(source, target, "ro", "nosuid", "nodev"),
      ),
      { destination: "/proc", source: "proc", type: "proc", options: ["nosuid", "nodev", "noexec"] },
      tmpfs("/dev", "mode=755", "size=64k"),
      // gVisor's terminals are none of the host's.
      makesSocket(runtime)
        ? {
            destination: "/dev/pts",
            source: "devpts",
            type: "devpts",
            options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
          }
        : bind(TERMINALS, "/dev/pts", "rw", "nosuid", "noexec"),
      tmpfs("/dev/shm", "mode=1777", size),
      tmpfs("/tmp", "mode=1777", size),
      tmpfs("/run", "mode=755", size),
      bind(`${STAGE}/workspace`, "/workspace", "rw", "nosuid", "nodev"),
      tmpfs(GUEST_FOLDER, "mode=755", "size=64k"),
      bind(`${STAGE}/guest`, `${GUEST_FOLDER}/guest`, "ro", "nosuid", "nodev"),
      ...(ownSocket
        ? [
            // SECURITY: layers are shared between workspaces, and read-only (G-05).
            ...layerMounts(spec.layers).map(({ source, target }) => bind(source, target, "ro", "nosuid", "nodev")),
            bind(`${STAGE}/socket`, SOCKET_FOLDER, "rw", "nosuid", "nodev", "noexec"),
          ]
        : []),
    ],
    linux: {
      // The user namespace is the launcher's; a user's only id becomes agent's in a second one.
      // SECURITY: with a cgroup namespace, because the names of cgroups tell of the host (G-01).
      namespaces: ["pid", "network", "ipc", "uts", "mount", "cgroup", ...(single ? ["user"] : [])].map((type) => ({
        type,
      })),
      ...(single && {
        uidMappings: [{ containerID: AGENT.uid, hostID: 0, size: 1 }],
        gidMappings: [{ containerID: AGENT.gid, hostID: 0, size: 1 }],
      }),
      // SECURITY: kernel files masked (G-07).
      maskedPaths: maskedKernelFiles(),
      readonlyPaths: ["/proc/sys"],
    },
  };
}

const ALL_SETS = ["bounding", "effective", "permitted", "inheritable", "ambient"];
