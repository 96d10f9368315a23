import type { Gates } from "../contracts/gates.ts";
import { type GateOptions, KeptGate } from "./kept-gate.ts";

/** Gates as processes of this host, each with a keeper of its own. */
export function createGates(options: GateOptions): Gates {
  const gates = new Map<string, KeptGate>();
  return {
    serve(workspaceId, wanted) {
      const gate = gates.get(workspaceId) ?? new KeptGate(options, workspaceId);
      gates.set(workspaceId, gate);
      return gate.serve(wanted);
    },
    reports: (workspaceId) => gates.get(workspaceId)?.reports ?? [],
    async end(workspaceId) {
      const gate = gates.get(workspaceId) ?? new KeptGate(options, workspaceId);
      await gate.end();
      if (gates.get(workspaceId) === gate) gates.delete(workspaceId);
    },
    close() {
      for (const gate of gates.values()) gate.letGo();
    },
  };
}
