import { readFileSync } from "node:fs";
import { join } from "node:path";
import { childrenOf, identifyProcess } from "../../src/base/process-identity.ts";

/** The pids of the keeper and the gate of a workspace; undefined where there is none. By its record: a gate that waited for a workspace is named after where it waited. */
export function gateOf(home: string, workspaceId: string): { keeper: number; gate: number } | undefined {
  try {
    const record = readFileSync(join(home, "workspaces", workspaceId, "gate/gate.pid"), "utf8");
    const [pid, ticks] = record.trim().split(" ");
    const keeper = Number(pid);
    if (identifyProcess(keeper)?.startTicks !== ticks) return undefined;
    const gate = childrenOf(keeper).find((child) => !isPorter(child.pid));
    return gate && { keeper, gate: gate.pid };
  } catch {
    return undefined;
  }
}

/** The pid of who takes connections at doors that a guest program has lent. */
export const porterOf = (keeper: number): number | undefined =>
  childrenOf(keeper).find((child) => isPorter(child.pid))?.pid;

/** It is a fork of its keeper, and has the same arguments. */
export const isPorter = (pid: number): boolean => nameOf(pid) === "cloche-porter";

/** What a process calls itself. */
export function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return undefined; // ended meanwhile
  }
}
