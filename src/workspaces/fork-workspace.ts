import type { StoredSession, StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { OperationInput } from "../model/operations.ts";
import { type CreateContext, blankWorkspace, bringUp } from "./create-workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { isEgressDoor } from "./egress-door.ts";
import { inheritedLabels } from "./inherited-labels.ts";
import { isLive } from "./layers.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { requireLimits } from "./require-limits.ts";
import { getBackend } from "./sandbox.ts";
import type { Secrets } from "./secrets.ts";
import { besideTheOther } from "./session.ts";
import { findSnapshot } from "./snapshots.ts";

export type ForkInput = Omit<OperationInput<"forkWorkspace">, "workspace_id">;

/** What a fork begins with. */
export interface ForkPoint {
  readonly layers: string[];
  /** What runs in it, of a machine that was saved alive. */
  readonly session: StoredSession | null;
}

/** Refuses, before anything is made, what cannot be. */
export function requireForkable(deps: Dependencies, parent: StoredWorkspace, input: ForkInput): void {
  requireLimits(getBackend(deps, parent.backend), { vcpuCount: input.vcpu_count, memMib: input.mem_mib });
}

export function forkPointOf(
  deps: Dependencies,
  parent: StoredWorkspace,
  input: ForkInput,
  snapshot: string,
): ForkPoint {
  const { layers, session } = findSnapshot(deps, parent, snapshot);
  if (isLive(layers)) refuseWithMachine(input);
  return { layers, session: session && besideTheOther(session) };
}

/**
 * A new workspace over the layers of another: of a snapshot, or of what it is now. Its baseline is the parent's, or with `rebase` what it begins with; its
 * host name, machine id and everything outside `/workspace` are its own. Secrets are provisioned anew. It has the parent's doors, through a gate of its own,
 * where that is asked for.
 */
export async function forkWorkspace(
  deps: Dependencies,
  { parent, point }: { parent: StoredWorkspace; point: ForkPoint },
  input: ForkInput,
  secrets: Secrets,
  context: CreateContext & { readonly withDoors?: boolean | undefined },
): Promise<LiveWorkspace> {
  const { layers, session } = point;
  const child: StoredWorkspace = {
    ...parent,
    ...blankWorkspace(deps),
    name: input.name ?? null,
    labels: input.labels ?? inheritedLabels(parent.labels),
    ttlSeconds: input.ttl_seconds ?? parent.ttlSeconds,
    limits: {
      ...parent.limits,
      ...(input.vcpu_count !== undefined && { vcpuCount: input.vcpu_count }),
      ...(input.mem_mib !== undefined && { memMib: input.mem_mib }),
    },
    layers,
    baseLayers: input.rebase === true ? layers : parent.baseLayers,
    forkLayers: layers,
    doors: context.withDoors === true ? parent.doors : parent.doors.filter(isEgressDoor),
    allowHosts: parent.allowHosts,
    egress: parent.egress,
  };
  const { workspaceId: from_workspace_id } = parent;
  const snapshot_name = input.snapshot ?? null;
  const origin = { kind: "workspace.forked", from_workspace_id, snapshot_name } as const;
  const tokens = deps.tokens.copyOf(parent.workspaceId);
  return await bringUp(deps, child, { secrets, origin, session, tokens }, context);
}

/** A machine that goes on has its files in itself, and the size that it had. */
function refuseWithMachine({ snapshot, rebase, vcpu_count: vcpus, mem_mib: memory }: ForkInput): void {
  if (rebase === true) {
    throw failure("NOT_SUPPORTED", `Snapshot "${snapshot}" was saved with what ran, and cannot become a baseline`, {
      hint: [way`Leave out ${argument("rebase")}`, way`fork a snapshot of the files`],
    });
  }
  if (vcpus !== undefined || memory !== undefined) {
    throw failure("NOT_SUPPORTED", `Snapshot "${snapshot}" was saved with what ran, in a machine of its own size`, {
      hint: [way`Leave out ${argument("vcpu_count")} and ${argument("mem_mib")}`, way`fork a snapshot of the files`],
    });
  }
}
