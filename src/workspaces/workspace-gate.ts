import { messageOf } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { EventPayloads } from "../model/event.ts";
import type { GateEvent } from "../model/gate-control.ts";
import { addUsage } from "../model/model-usage.ts";
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

/** Gives the gate of a running workspace what it is to let out now; requests under way go on. Tells whether it is in force. */
export async function reloadGate(
  deps: Dependencies,
  stored: StoredWorkspace,
  live: LiveWorkspace,
): Promise<{ revision: number } | undefined> {
  const egress = egressOrder(deps, stored, live.secrets);
  return egress === null ? undefined : await deps.gates.renew(stored.workspaceId, egress);
}

/** Takes what gates tell: of requests, that one of them wants another token, and that one has another certificate. */
export function listenToGates(deps: Dependencies, find: (workspaceId: string) => LiveWorkspace | undefined): void {
  deps.tokens.onChanged = (workspaceId) => {
    const stored = deps.store.findWorkspace(workspaceId);
    const live = find(workspaceId);
    if (!stored || !live) return; // it is told when it runs again
    reloadGate(deps, stored, live).catch((error: unknown) =>
      deps.log.error("a gate does not take a new token", { workspaceId, reason: messageOf(error) }),
    );
  };
  deps.gates.listen({
    egress(workspaceId, events, lost) {
      deps.store.transaction(() => {
        if (lost > 0) deps.events.record({ kind: "egress.lost", workspace_id: workspaceId, count: lost });
        recordRequests(deps, workspaceId, events);
      });
    },
    wants(workspaceId, names) {
      const policy = deps.store.findWorkspace(workspaceId)?.egress?.policy;
      if (policy) deps.tokens.want(workspaceId, policy, names);
    },
    certificate(workspaceId) {
      const live = find(workspaceId);
      if (live) void trustGate(deps, live);
    },
  });
}

function recordRequests(deps: Dependencies, workspaceId: string, events: readonly GateEvent[]): void {
  for (const event of events) recordEvent(deps, workspaceId, event);
  recordCredentials(deps, workspaceId, events);
  const stored = deps.store.findWorkspace(workspaceId);
  const usages = events.flatMap((event) => ("model_usage" in event ? (event.model_usage ?? []) : []));
  if (!stored || usages.length === 0) return;
  const { total, session } = stored.modelUsage;
  const modelUsage = { total: usages.reduce(addUsage, total), session: usages.reduce(addUsage, session) };
  deps.store.updateWorkspace(workspaceId, { modelUsage });
}

function recordEvent(deps: Dependencies, workspaceId: string, told: GateEvent): void {
  if (!("is_logged" in told)) {
    deps.events.record({ ...told, workspace_id: workspaceId });
    return;
  }
  const { findings, credentials, is_logged, ...event } = told;
  const lists = { findings: [...findings], credentials: [...credentials] };
  if (is_logged) deps.events.record({ ...event, ...lists, workspace_id: workspaceId });
}

/** What no event of a request tells. */
function recordCredentials(deps: Dependencies, workspaceId: string, events: readonly GateEvent[]): void {
  const uses = new Map<string, EventPayloads["credential.used"]>();
  for (const event of events) {
    if (!("is_logged" in event) || event.is_logged || event.credentials.length === 0) continue;
    const { host, port, credentials } = event;
    const key = JSON.stringify([host, port, credentials]);
    const requests = (uses.get(key)?.requests ?? 0) + 1;
    uses.set(key, { credentials: [...credentials], host, port, requests });
  }
  for (const use of uses.values()) deps.events.record({ kind: "credential.used", workspace_id: workspaceId, ...use });
}

/** Never rejects: requests fail closed until it is done. */
async function trustGate(deps: Dependencies, live: LiveWorkspace): Promise<void> {
  await provisionEgress(deps, live).catch((error: unknown) => {
    deps.log.error("a sandbox does not trust its gate", { workspaceId: live.workspaceId, reason: messageOf(error) });
  });
}
