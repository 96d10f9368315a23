import { messageOf } from "../base/errors.ts";
import type { Wall } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { describeIssue } from "../model/describe-issue.ts";
import { type Door, Doors } from "../model/door.ts";
import type { EgressOrder } from "../model/egress-order.ts";
import { failure } from "../model/error-codes.ts";
import type { DoorReport } from "../model/gate-control.ts";
import type { Dependencies } from "./dependencies.ts";
import { getBackend } from "./sandbox.ts";

/**
 * The doors that a workspace is to have are recorded before anything is done about them, and opened in every sandbox that it gets. The caller holds the
 * workspace's turn.
 */
export async function setDoors(
  deps: Dependencies,
  stored: StoredWorkspace,
  wall: Wall | undefined,
  wanted: readonly Door[],
  egress: EgressOrder | null = null,
): Promise<readonly DoorReport[]> {
  const { workspaceId } = stored;
  const doors = checkDoors(wanted);
  requireDoors(deps, stored);
  deps.store.updateWorkspace(workspaceId, { doors });
  if (doors.length > 0)
    return await deps.gates.serve(workspaceId, { guestSocket: wall?.gateSocket ?? null, doors, egress });
  await deps.gates.end(workspaceId);
  return [];
}

/**
 * Opens them in another sandbox, or none, than they were open in. Never rejects: a workspace whose gate does not start works without, and its doors stay
 * closed.
 */
export async function moveDoors(
  deps: Dependencies,
  { workspaceId, doors }: StoredWorkspace,
  wall: Wall | undefined,
  egress: EgressOrder | null = null,
): Promise<void> {
  if (doors.length === 0) return;
  try {
    const reports = await deps.gates.serve(workspaceId, { guestSocket: wall?.gateSocket ?? null, doors, egress });
    for (const { port, state, reason } of reports)
      if (wall && state !== "open") deps.log.warn("a door is not open", { workspaceId, port, reason });
  } catch (error) {
    deps.log.error("the doors of a workspace are closed", { workspaceId, reason: messageOf(error) });
  }
}

function checkDoors(wanted: readonly Door[]): Door[] {
  const checked = Doors.safeParse(wanted);
  if (checked.success) return checked.data;
  throw failure("INVALID_ARGUMENT", `Cannot open these doors: ${describeIssue(Doors, wanted, checked.error)}`);
}

function requireDoors(deps: Dependencies, { backend }: StoredWorkspace): void {
  if (getBackend(deps, backend).capabilities.doors === true) return;
  throw failure("NOT_SUPPORTED", `Backend "${backend}" has no doors`, {
    hint: "Use a backend whose walls have a socket for the gate, such as container",
  });
}
