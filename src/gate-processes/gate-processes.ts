import type { GateListener, Gates } from "../contracts/gates.ts";
import { type GateOptions, KeptGate } from "./kept-gate.ts";

/** Gates as processes of this host, each with a keeper of its own. */
export function createGates(options: GateOptions): Gates {
  const gates = new Map<string, KeptGate>();
  let listener: GateListener | undefined;
  const made = (workspaceId: string) => new KeptGate(options, workspaceId, () => listener);
  return {
    serve(workspaceId, wanted) {
      const gate = gates.get(workspaceId) ?? made(workspaceId);
      gates.set(workspaceId, gate);
      return gate.serve(wanted);
    },
    giveGit(workspaceId, git) {
      const gate = gates.get(workspaceId) ?? made(workspaceId);
      gates.set(workspaceId, gate);
      gate.giveGit(git);
    },
    renew: async (workspaceId, egress) => await gates.get(workspaceId)?.renew(egress),
    reports: (workspaceId) => gates.get(workspaceId)?.reports ?? [],
    certificate: (workspaceId) => gates.get(workspaceId)?.certificate ?? null,
    listen(one) {
      listener = one;
    },
    async end(workspaceId) {
      const gate = gates.get(workspaceId) ?? made(workspaceId);
      await gate.end();
      if (gates.get(workspaceId) === gate) gates.delete(workspaceId);
    },
    close() {
      for (const gate of gates.values()) gate.letGo();
    },
  };
}
