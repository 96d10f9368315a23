import { existsSync, realpathSync } from "node:fs";
import type { WallSpec } from "../../contracts/backend.ts";

/** What a sandbox looks like, whatever program builds the wall. */

/** Where `cloche-guest wall` has put the layers, in its own mount namespace. */
export const STAGE = "/run";
/** Where the guest program and the layers it reads are while it starts; it unmounts the layers at once. */
export const GUEST_FOLDER = "/.cloche";
/** The listening socket that the launcher passes on. */
export const LISTEN_FD = 3;

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
export function maskedHostFolders({ rootfs }: Pick<WallSpec, "rootfs">): string[] {
  const real = HOST_CONFIGURATION.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(real)].filter((path) => rootfs.hostPaths.some((shown) => path.startsWith(`${shown}/`)));
}

/** The layers over the baseline, bottom first: where the launcher staged them, and where the guest program finds them. */
export const layerMounts = (spec: Pick<WallSpec, "layers">): { source: string; target: string }[] =>
  spec.layers.map((_, index) => ({
    source: `${STAGE}/layers/${index}`,
    target: `${GUEST_FOLDER}/layers/${index}`,
  }));

/** The guest program's command line in the sandbox. It names nothing of the host. */
// prettier-ignore
export const guestCommand = (spec: Pick<WallSpec, "hostname" | "layers">, ...more: string[]): string[] => [
  `${GUEST_FOLDER}/guest`, "init", ...more,
  "--upper", `${GUEST_FOLDER}/upper`, "--baseline", `${GUEST_FOLDER}/baseline`,
  ...layerMounts(spec).flatMap(({ target }) => ["--layer", target]), "--hostname", spec.hostname,
];

/** The size of each memory-backed folder: half of the sandbox's memory, which it counts against. */
export const tmpfsBytes = (spec: WallSpec): number => Math.max(64, Math.floor(spec.limits.memMib / 2)) * 1024 * 1024;
