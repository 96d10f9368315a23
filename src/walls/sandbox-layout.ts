import { existsSync, realpathSync } from "node:fs";

/** What a sandbox looks like, whoever builds the wall. */

/** Where the guest program and the layers it reads are while it starts; the layers are unmounted at once. */
export const GUEST_FOLDER = "/.cloche";

/** Files of /proc that tell about the host's kernel, or act on it. */
// prettier-ignore
const KERNEL_FILES = [
  "acpi", "asound", "bus", "cmdline", "config.gz", "diskstats", "fs", "interrupts", "irq", "kallsyms", "kcore", "keys", "key-users", "kmsg",
  "latency_stats", "modules", "partitions", "sched_debug", "scsi", "slabinfo", "sysrq-trigger", "timer_list", "timer_stats", "vmallocinfo",
];

export function maskedKernelFiles(): string[] {
  return KERNEL_FILES.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
}

/** Configuration of npm, git and others for the whole host, which may hold a credential, in folders that show through. */
const HOST_CONFIGURATION = ["/usr/etc", "/usr/local/etc"];

/** Where folders of the host have to be covered by empty ones. */
export function maskedHostFolders(hostPaths: readonly string[]): string[] {
  const real = HOST_CONFIGURATION.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(real)].filter((path) => hostPaths.some((shown) => path.startsWith(`${shown}/`)));
}

/** Where the guest program finds the layers over the baseline, bottom first. */
export const layerTargets = (layers: readonly string[]): string[] =>
  layers.map((_, index) => `${GUEST_FOLDER}/layers/${index}`);

/** The guest program's command line in the sandbox. It names nothing of the host. */
// prettier-ignore
export const guestCommand = (spec: { hostname: string; layers: readonly string[] }, ...more: string[]): string[] => [
  `${GUEST_FOLDER}/guest`, "init", ...more,
  "--upper", `${GUEST_FOLDER}/upper`, "--baseline", `${GUEST_FOLDER}/baseline`,
  ...layerTargets(spec.layers).flatMap((target) => ["--layer", target]), "--hostname", spec.hostname,
];

/** For gVisor: it shows the environment of a process to whoever asks, so that no namespace would hide a secret, and starts no sibling of a process. */
export const NO_KEEPER = "--no-keeper";

/** The size of each memory-backed folder: half of the sandbox's memory, which it counts against. */
export const tmpfsBytes = ({ memMib }: { memMib: number }): number =>
  Math.max(64, Math.floor(memMib / 2)) * 1024 * 1024;
