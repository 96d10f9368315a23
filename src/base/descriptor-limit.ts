import { readFileSync } from "node:fs";

/** What Linux gives a process that nobody has told otherwise. */
const USUAL = 1024;
let limit: number | undefined;

/** How many descriptors this process may have. Whoever holds connections of others takes a part of it, so that some are left for all else. */
export function descriptorLimit(): number {
  return (limit ??= readLimit());
}

function readLimit(): number {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"));
    return found ? Number(found[1]) : USUAL;
  } catch {
    return USUAL;
  }
}
