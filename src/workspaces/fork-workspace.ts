import type { StoredSession, StoredWorkspace } from "../contracts/store.ts";
import type { OperationInput } from "../model/operations.ts";
import { type CreateContext, blankWorkspace, bringUp } from "./create-workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { getBackend, sandboxDirectory } from "./sandbox.ts";
import type { Secrets } from "./secrets.ts";
import { besideTheOther } from "./session.ts";
import { inheritedLabels } from "./inherited-labels.ts";
import { findSnapshot } from "./snapshots.ts";

/**
 * A new workspace over the layers of another: of a snapshot, or of what it is now. Its baseline is the parent's; its host name, machine id and everything
 * outside `/workspace` are its own. Secrets are provisioned anew. It has the parent's doors, through a gate of its own, where that is asked for.
 */
export async function forkWorkspace(
  deps: Dependencies,
  parent: StoredWorkspace,
  input: Pick<OperationInput<"forkWorkspace">, "name" | "snapshot">,
  secrets: Secrets,
  context: CreateContext & { readonly withDoors?: boolean | undefined },
): Promise<LiveWorkspace> {
  const bring = (layers: string[], session: StoredSession | null) => {
    const labels = inheritedLabels(parent.labels);
    const doors = context.withDoors === true ? parent.doors : [];
    const child: StoredWorkspace = {
      ...parent,
      ...blankWorkspace(deps),
      name: input.name ?? null,
      labels,
      layers,
      doors,
    };
    const { workspaceId: from_workspace_id } = parent;
    const snapshot_name = input.snapshot ?? null;
    const origin = { kind: "workspace.forked", from_workspace_id, snapshot_name } as const;
    return bringUp(deps, child, { secrets, origin, session }, context);
  };
  if (input.snapshot !== undefined) {
    const { layers, session } = findSnapshot(deps, parent.workspaceId, input.snapshot);
    return await bring(layers, session && besideTheOther(session));
  }
  const source = { directory: sandboxDirectory(deps.home, parent), layers: parent.layers };
  const backend = getBackend(deps, parent.backend);
  return await deps.layers.add(backend, source, (layers) => bring(layers, null), context.signal);
}
