import { join } from "node:path";
import { type IdMap, SHIFT_BASE, SHIFT_COUNT } from "../../base/id-map.ts";
import type { WallSpec } from "../../contracts/backend.ts";
import type { Labels } from "../../docker-engine/engine.ts";
import { WORKSPACE_ROOT } from "../../model/names.ts";
import { GUEST_MIB } from "../../walls/cgroup.ts";
import { guestProgram } from "../../walls/guest-program.ts";
import { workFolder, writableLayer } from "../../walls/layers.ts";
import {
  GUEST_FOLDER,
  NO_KEEPER,
  guestCommand,
  layerTargets,
  maskedKernelFiles,
  mountedLayers,
  tmpfsBytes,
} from "../../walls/sandbox-layout.ts";
import { hostFolderOptions, overlayOptions } from "./overlay-options.ts";

export interface ContainerPlan {
  readonly spec: WallSpec;
  readonly idMap: IdMap;
  readonly image: string;
  /** Of the container and of its volume. */
  readonly name: string;
  readonly labels: Labels;
  /** Folder of the links to the layers. */
  readonly links: string;
  /** Where folders of the host show. */
  readonly hostFolders: readonly string[];
  /** Whether commands have a memory cgroup of their own, below the container's. */
  readonly commandsApart: boolean;
}

/** Where the guest makes its socket, as the host and as the sandbox see it. */
export const socketFolder = (directory: string): string => join(directory, "socket");
export const GUEST_SOCKET = "guest.sock";
const SOCKET_FOLDER = `${GUEST_FOLDER}/socket`;
/**
 * SECURITY: deeper than all other mounts, because an engine mounts the deepest last: so nothing covers the guest program, whatever links an image or a
 * stopped sandbox has left in the folders above. What is at this path runs as the host's root (G-21).
 */
const PROGRAM = `${GUEST_FOLDER}/mounted/last/guest`;
const WORK = `${GUEST_FOLDER}/scratch`;
const MIB = 1024 * 1024;

/** Where an engine mounts files of its own, with the name servers of the host in them, or leaves empty ones. */
export const NAME_FILES = ["etc/hosts", "etc/hostname", "etc/resolv.conf"];

/**
 * SECURITY: what `cloche-guest enter` needs to leave the host's ids, and has left when the sandbox's first command runs: to unmount what names the host and to make
 * a user namespace (SYS_ADMIN), to map ids into it (SETUID, SETGID). Nothing keeps them (G-21).
 */
const CAPABILITIES = ["SYS_ADMIN", "SETUID", "SETGID"];

/** All but `/proc/sys/user`, where the limits of a user namespace are set, by its root. */
const READ_ONLY_KERNEL_FILES = ["abi", "debug", "dev", "fs", "kernel", "net", "vm"].map((name) => `/proc/sys/${name}`);

/** As in `guest/walls/terminals.c`. */
const TERMINAL_OPTIONS = "newinstance,ptmxmode=0666,mode=0620,gid=5,max=128,nosuid,noexec";

/** gVisor has many threads of its own for a process in it, and breaks when it gets no more; a limit for processes alone it does not have. */
const GVISOR_TASKS = 32;

/** SECURITY: the host's devices and cgroups show through /sys, and are no business of a sandbox (G-07). */
const MASKED_FOLDERS = ["/sys", "/proc/scsi", "/proc/acpi"];

/** The body of `POST /containers/create`. */
export function containerConfig(plan: ContainerPlan): object {
  const { spec, idMap, image, labels } = plan;
  return {
    Image: image,
    Hostname: spec.hostname,
    // SECURITY: nothing of the image says who runs and with what: not its entry point, not its user, not its variables (G-21).
    Entrypoint: [
      PROGRAM,
      "enter",
      ...mapArguments(idMap),
      "--program",
      PROGRAM,
      // The network of a sandbox under gVisor is gVisor's own, and stays as it is.
      ...(isGvisor(spec.ociRuntime) ? [] : ["--own-network"]),
      ...releaseArguments(idMap),
    ],
    Cmd: [
      ...NAME_FILES.flatMap((path) => ["--hide", `/${path}`]),
      "--",
      ...guestCommand(spec.hostname, mountedLayers(spec.layers), ...channel(spec), ...commandsArguments(plan)).slice(1),
    ],
    User: "0:0",
    Env: [],
    WorkingDir: "/",
    Labels: labels,
    NetworkDisabled: true,
    Healthcheck: { Test: ["NONE"] },
    StopSignal: "SIGKILL",
    HostConfig: hostConfig(plan),
  };
}

function hostConfig(plan: ContainerPlan): object {
  const { spec, idMap } = plan;
  const { limits } = spec;
  const size = tmpfsBytes(limits);
  const root = idMap.toHost(0, 0);
  const owner = `uid=${root.uid},gid=${root.gid}`;
  return {
    // SECURITY: a loopback interface and nothing else (G-03).
    NetworkMode: "none",
    IpcMode: "private",
    CgroupnsMode: "private",
    UsernsMode: "host",
    Privileged: false,
    CapDrop: ["ALL"],
    CapAdd: CAPABILITIES,
    // SECURITY: the engine's own filter and profile stay, below ours (G-06, G-21).
    SecurityOpt: ["no-new-privileges"],
    // SECURITY: kernel files masked (G-07).
    MaskedPaths: [...maskedKernelFiles(), ...MASKED_FOLDERS],
    ReadonlyPaths: READ_ONLY_KERNEL_FILES,
    // SECURITY: memory that commands fill up ends commands, never the guest program, which has a share that they cannot take (G-08).
    Memory: (plan.commandsApart ? limits.memMib + GUEST_MIB : limits.memMib) * MIB,
    PidsLimit: isGvisor(spec.ociRuntime) ? limits.pids * GVISOR_TASKS : limits.pids,
    NanoCpus: limits.vcpuCount * 1_000_000_000,
    ShmSize: size,
    Tmpfs: {
      "/tmp": `rw,exec,nosuid,nodev,mode=1777,size=${size},${owner}`,
      "/run": `rw,exec,nosuid,nodev,mode=755,size=${size},${owner}`,
    },
    Mounts: mounts(plan),
    ...(spec.ociRuntime !== undefined && { Runtime: spec.ociRuntime }),
    RestartPolicy: { Name: "no" },
    LogConfig: { Type: "json-file", Config: { "max-size": "64k", "max-file": "1" } },
  };
}

/** Volumes that hold no files: file systems that an engine mounts, of the layers, of terminals and of each folder of the host. */
const volumesOf = (container: string, hostFolders: readonly string[]) => ({
  workspace: container,
  terminals: `${container}-terminals`,
  folders: hostFolders.map((_, index) => `${container}-h${index}`),
});

export function volumeNames(container: string, hostFolders: readonly string[]): string[] {
  const { workspace, terminals, folders } = volumesOf(container, hostFolders);
  return [workspace, terminals, ...folders];
}

function mounts({ spec, idMap, name, labels, links, hostFolders }: ContainerPlan): object[] {
  // Mounted by the engine, so that nothing in the container ever needs to mount.
  const mounted = (type: string, volume: string | undefined, target: string, options: string, readOnly: boolean) => ({
    Type: "volume",
    Source: volume,
    Target: target,
    ReadOnly: readOnly,
    VolumeOptions: {
      NoCopy: true,
      Labels: labels,
      DriverConfig: { Name: "local", Options: { type, device: type, o: options } },
    },
  });
  const overlay = mounted.bind(undefined, "overlay");
  const bind = (source: string, target: string, readOnly = true) => ({
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: { Propagation: "rprivate" },
  });
  const targets = layerTargets(spec.layers);
  const names = volumesOf(name, hostFolders);
  return [
    // SECURITY: a folder of the host shows through an overlay: read-only, covered, and without the host's sockets, pipes and locks (G-01, G-02, G-05).
    ...hostFolders.map((path, index) => overlay(names.folders[index], path, hostFolderOptions(links, index), true)),
    overlay(names.workspace, WORKSPACE_ROOT, overlayOptions(links, spec.layers.length), false),
    // SECURITY: the engine's own terminals have no limit; these are mounted in their place (G-26). gVisor's are none of the host's.
    ...(isGvisor(spec.ociRuntime) ? [] : [mounted("devpts", names.terminals, "/dev/pts", TERMINAL_OPTIONS, false)]),
    bind(guestProgram(), PROGRAM),
    bind(writableLayer(spec.directory), `${GUEST_FOLDER}/upper`),
    bind(spec.baseline, `${GUEST_FOLDER}/baseline`),
    // SECURITY: layers are shared between workspaces, and read-only (G-05).
    ...spec.layers.map((path, index) => bind(path, targets[index] ?? "")),
    bind(socketFolder(spec.directory), SOCKET_FOLDER, false),
    ...(idMap.kind === "single" ? [bind(workFolder(spec.directory), WORK, false)] : []),
  ];
}

export const isGvisor = (runtime: string | undefined): boolean => runtime?.startsWith("runsc") === true;

/** gVisor loses a socket whose folder is unmounted; there the guest makes it, and the mount table shows nothing of the host anyway. */
const channel = ({ ociRuntime }: WallSpec): string[] =>
  isGvisor(ociRuntime)
    ? ["--socket", `${SOCKET_FOLDER}/${GUEST_SOCKET}`, NO_KEEPER]
    : ["--socket-folder", SOCKET_FOLDER];

const commandsArguments = ({ commandsApart, spec }: ContainerPlan): string[] =>
  commandsApart ? ["--commands-memory", String(spec.limits.memMib * MIB)] : [];

/** What the engine's overlay keeps in its work folder is root's; a user could not delete the workspace unless root lets go of it. */
const releaseArguments = (idMap: IdMap): string[] => (idMap.kind === "single" ? ["--release", WORK] : []);

/** Run as root, the sandbox's ids are shifted; run by a user, the sandbox's one user is that user. */
function mapArguments(idMap: IdMap): string[] {
  if (idMap.kind === "shifted") return ["--shift-base", String(SHIFT_BASE), "--shift-count", String(SHIFT_COUNT)];
  const { uid, gid } = idMap.toHost(0, 0);
  return ["--agent", `${uid}:${gid}`];
}
