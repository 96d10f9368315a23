import { readFileSync, readdirSync } from "node:fs";

/** Processes of `cloche mcp serve` for one cloche home, which is in their environment and not in their words. */
export function servedProcesses(home: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return words.includes("\0mcp\0serve") && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`=${home}\0`);
    } catch {
      return false; // no process, or one that ended meanwhile
    }
  });
}
