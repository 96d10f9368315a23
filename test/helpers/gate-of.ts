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
    const [gate] = childrenOf(keeper);
    return gate && { keeper, gate: gate.pid };
  } catch {
    return undefined;
  }
}
