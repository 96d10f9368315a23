import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** How long the host has been up, asleep or not: what no setting of its clock changes. */
export interface Uptime {
  /** One start of the host. */
  readonly boot: string;
  readonly seconds: number;
}

/** Null where the host does not tell its starts apart. */
export function readUptime(): Uptime | null {
  try {
    return { boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), seconds: uptime() };
  } catch {
    return null;
  }
}
