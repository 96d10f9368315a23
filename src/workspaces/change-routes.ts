import { messageOf } from "../base/errors.ts";
import type { StoredEgress, StoredWorkspace } from "../contracts/store.ts";
import type { Route } from "../model/egress.ts";
import { failure } from "../model/error-codes.ts";
import type { Dependencies } from "./dependencies.ts";
import { policyOf } from "./egress.ts";
import { type ChangedBy, recordPolicy } from "./record-policy.ts";
import { reloadGate } from "./workspace-gate.ts";
import type { Workspaces } from "./workspaces.ts";

export interface EgressChange<Part> {
  readonly by: ChangedBy;
  /** What it is to be, given what it is. Throws when it must not change. */
  readonly change: (now: Part) => Part;
  /** Once the gate has confirmed it: writes it down, with all that belongs to it. */
  readonly settle: (write: () => void) => Promise<void>;
}
export type RouteChange = EgressChange<readonly Route[]>;

/** Gives a workspace other routes. */
export async function changeRoutes(
  deps: Dependencies,
  workspaces: Workspaces,
  id: string,
  { by, change, settle }: RouteChange,
): Promise<void> {
  await changeEgress(deps, workspaces, id, {
    by,
    change: ({ policy, ...rest }) => ({ ...rest, policy: { ...policy, routes: [...change(policy.routes ?? [])] } }),
    settle,
  });
}

/**
 * Gives a workspace something else that its gate has to know. It is in force at its gate before it is written down, so that what a killed daemon had not settled is not in force
 * after the next has come. When anything fails, the gate has what it had.
 */
export async function changeEgress(
  deps: Dependencies,
  workspaces: Workspaces,
  id: string,
  { by, change, settle }: EgressChange<StoredEgress>,
): Promise<void> {
  await workspaces.act("setEgress", id, (found) =>
    workspaces.turns.take(found.workspaceId, async () => {
      const { workspaceId, stored: before, liveIfRunning: live } = found;
      const now = before.egress ?? { policy: policyOf(before), standIns: {}, authorities: {} };
      const next: StoredWorkspace = { ...before, allowHosts: [], egress: change({ ...now, policy: policyOf(before) }) };
      try {
        // One that does not run gets it with its next start.
        if (live && !(await reloadGate(deps, next, live)))
          throw failure("GATE_FAILED", `The gate of workspace ${workspaceId} does not answer`);
        await settle(() => {
          deps.store.updateWorkspace(workspaceId, { allowHosts: [], egress: next.egress });
          recordPolicy(deps, before, next, by);
        });
      } catch (error) {
        if (live) await putBack(() => reloadGate(deps, before, live), deps, workspaceId);
        throw error;
      }
    }),
  );
}

/** SECURITY: a gate that cannot be told what it had is ended with what it has: requests fail closed until it is told again (G-101) */
async function putBack(reload: () => Promise<unknown>, deps: Dependencies, workspaceId: string): Promise<void> {
  try {
    await reload();
  } catch (error) {
    deps.log.error("a gate cannot be put back", { workspaceId, reason: messageOf(error) });
    await deps.gates.end(workspaceId).catch(() => undefined);
  }
}
