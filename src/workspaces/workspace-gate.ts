import { messageOf } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { Dependencies } from "./dependencies.ts";
import { moveDoors, setDoors } from "./doors.ts";
import { egressOrder, provisionEgress } from "./egress.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** Opens what a new workspace was made with. Rejects when not all of it is open. The caller holds the workspace's turn, or is alone to know it. */
export async function openGate(deps: Dependencies, stored: StoredWorkspace, live: LiveWorkspace): Promise<void> {
  const egress = egressOrder(deps, stored, live.secrets);
  const reports = await setDoors(deps, stored, live.wall, stored.doors, egress);
  const closed = reports.find(({ state }) => state !== "open");
  if (closed)
    throw failure("GATE_FAILED", `Port ${closed.port} of the sandbox cannot be opened: ${closed.reason ?? ""}`);
  await provisionEgress(deps, live);
}

/** Opens it in another sandbox than it was open in. Never rejects: requests fail closed until it is done. */
export async function moveGate(deps: Dependencies, stored: StoredWorkspace, live: LiveWorkspace): Promise<void> {
  await moveDoors(deps, stored, live.wall, egressOrder(deps, stored, live.secrets));
  await trustGate(deps, live);
}

/** Takes what gates tell: of requests, and that one of them has another certificate. */
export function listenToGates(deps: Dependencies, find: (workspaceId: string) => LiveWorkspace | undefined): void {
  deps.gates.listen({
    egress(workspaceId, events, lost) {
      if (lost > 0) deps.log.warn("a gate has dropped events that nobody took", { workspaceId, lost });
      deps.store.transaction(() => {
        for (const { findings, ...event } of events)
          deps.events.record({ ...event, findings: [...findings], workspace_id: workspaceId });
      });
    },
    certificate(workspaceId) {
      const live = find(workspaceId);
      if (live) void trustGate(deps, live);
    },
  });
}

/** Never rejects: requests fail closed until it is done. */
async function trustGate(deps: Dependencies, live: LiveWorkspace): Promise<void> {
  await provisionEgress(deps, live).catch((error: unknown) => {
    deps.log.error("a sandbox does not trust its gate", { workspaceId: live.workspaceId, reason: messageOf(error) });
  });
}
