import { readFileSync } from "node:fs";

/** What Linux gives a process that nobody has told otherwise. */
const USUAL = 1024;
let limit: number | undefined;

/** How many descriptors this process may have. What holds connections for clients takes a share of it, so that descriptors are left for everything else. */
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
