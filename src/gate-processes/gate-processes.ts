import type { AskListener, GateListener, Gates } from "../contracts/gates.ts";
import { type GateOptions, KeptGate } from "./kept-gate.ts";
import { SpareGates } from "./spare-gates.ts";

/** Gates as processes of this host, each with a keeper of its own. */
export function createGates(options: GateOptions): Gates {
  const gates = new Map<string, KeptGate>();
  let listener: GateListener | undefined;
  let asking: AskListener | undefined;
  const listeners = { told: () => listener, asked: () => asking };
  const spares = new SpareGates(options);
  const made = (workspaceId: string) => new KeptGate(options, spares, workspaceId, listeners);
  return {
    recover: () => spares.clear(),
    expect: () => spares.wish(),
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
    listenToAsks(one) {
      asking = one;
    },
    answer: (workspaceId, answers) => gates.get(workspaceId)?.answer(answers),
    async end(workspaceId) {
      const gate = gates.get(workspaceId) ?? made(workspaceId);
      await gate.end();
      if (gates.get(workspaceId) === gate) gates.delete(workspaceId);
    },
    async close() {
      for (const gate of gates.values()) gate.letGo();
      await spares.close();
    },
  };
}
