import { existsSync } from "node:fs";

/** What a sandbox looks like, the same for every kind of wall. */

/** Where the guest program and the layers it reads are while it starts; the layers are unmounted at once. */
export const GUEST_FOLDER = "/.cloche";

/** Files of /proc that tell about the host's kernel, or act on it. */
// prettier-ignore
const KERNEL_FILES = [
  "acpi", "asound", "bus", "cmdline", "config.gz", "diskstats", "fs", "interrupts", "irq", "kallsyms", "kcore", "keys", "key-users", "kmsg",
  "latency_stats", "modules", "partitions", "sched_debug", "scsi", "slabinfo", "sysrq-trigger", "timer_list", "timer_stats", "vmallocinfo",
];

const MASKED = KERNEL_FILES.map((name) => `/proc/${name}`);

/** For what masks only what is there. */
export const maskedKernelFiles = (): string[] => MASKED.filter((path) => existsSync(path));

/** For the guest program, which passes over what is not there. */
export const allKernelFiles = (): readonly string[] => MASKED;

/** Where the guest program finds the layers over the baseline, bottom first. */
export const layerTargets = (layers: readonly string[]): string[] =>
  layers.map((_, index) => `${GUEST_FOLDER}/layers/${index}`);

/** Where the guest program finds what it compares. */
export interface GuestLayers {
  readonly upper: string;
  readonly baseline: string;
  /** Between them, bottom first. */
  readonly layers: readonly string[];
}

/** Mounted for its start, and gone when the first command runs. */
export const mountedLayers = (layers: readonly string[]): GuestLayers => ({
  upper: `${GUEST_FOLDER}/upper`,
  baseline: `${GUEST_FOLDER}/baseline`,
  layers: layerTargets(layers),
});

/** The guest program's command line in the sandbox. It names nothing of the host. */
// prettier-ignore
export const guestCommand = (hostname: string, { upper, baseline, layers }: GuestLayers, ...more: string[]): string[] => [
  `${GUEST_FOLDER}/guest`, "init", ...more,
  "--upper", upper, "--baseline", baseline, ...layers.flatMap((layer) => ["--layer", layer]), "--hostname", hostname,
];

/** For gVisor: it shows the environment of a process to every other process, so no namespace would hide a secret, and starts no sibling of a process. */
export const NO_KEEPER = "--no-keeper";

/** The size of each memory-backed folder: half of the sandbox's memory, which it counts against. */
export const tmpfsBytes = ({ memMib }: { memMib: number }): number =>
  Math.max(64, Math.floor(memMib / 2)) * 1024 * 1024;
