import { mkdirSync } from "node:fs";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { workspaceDirectory } from "../base/paths.ts";
import type { Backend } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { DEFAULTS } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/results.ts";
import type { Dependencies } from "./dependencies.ts";
import { LiveWorkspace } from "./live-workspace.ts";

export interface CreateContext {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ReportProgress | undefined;
  readonly onLost: (workspaceId: string, reason: string) => void;
}

/**
 * Makes a workspace: record, layers, wall. It is written into the store before anything else is made, so that a crash at any point leaves
 * a record that the next daemon undoes.
 */
export async function createWorkspace(
  deps: Dependencies,
  input: OperationInput<"createWorkspace">,
  context: CreateContext,
): Promise<LiveWorkspace> {
  const config = deps.config();
  const backendName = input.backend ?? config.backend ?? DEFAULTS.backend;
  const backend = getBackend(deps, backendName);
  if (input.network_policy !== undefined && input.network_policy !== "off") {
    throw failure("NETWORK_POLICY_UNSUPPORTED", `Network policy "${input.network_policy}" has no gate to answer it`);
  }
  if (config.limits?.disk_mib !== undefined) {
    throw failure("LIMIT_UNSUPPORTED", `Backend "${backendName}" cannot limit the disk`, {
      hint: "Remove limits.disk_mib from config.yaml",
    });
  }
  const rootfs = await deps.environments.ensure(
    input.environment ?? config.environment ?? DEFAULTS.environment,
    context,
  );
  const { tree, seed } = await deps.seeds.import(input.seed_path, context);
  context.signal?.throwIfAborted();

  const workspaceId = `ws-${randomName(10)}`;
  const directory = workspaceDirectory(deps.home, workspaceId);
  const now = deps.clock.now();
  const stored: StoredWorkspace = {
    workspaceId,
    name: input.name ?? null,
    labels: input.labels ?? {},
    environment: rootfs.name,
    backend: backendName,
    state: "creating",
    stateReason: null,
    networkPolicy: "off",
    createdAt: now,
    lastActivityAt: now,
    ttlSeconds: input.ttl_seconds ?? config.ttl_seconds ?? DEFAULTS.ttl_seconds,
    limits: {
      vcpuCount: input.vcpu_count ?? config.limits?.vcpu_count ?? DEFAULTS.vcpu_count,
      memMib: input.mem_mib ?? config.limits?.mem_mib ?? DEFAULTS.mem_mib,
      pids: config.limits?.pids ?? DEFAULTS.pids,
      diskMib: undefined,
    },
    ociRuntime: input.oci_runtime ?? null,
    resetCount: 0,
    seed: {
      ...seed,
      ...(input.origin_kind && { origin_kind: input.origin_kind }),
      ...(input.origin_ref && { origin_ref: input.origin_ref }),
    },
    baseline: tree,
    wall: null,
  };
  deps.store.insertWorkspace(stored);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const wall = await backend.start(
      {
        workspaceId,
        directory,
        rootfs,
        baseline: tree,
        hostname: workspaceId,
        limits: stored.limits,
        ociRuntime: input.oci_runtime,
      },
      context.signal,
    );
    deps.store.updateWorkspace(workspaceId, { state: "started", wall: wall.record, lastActivityAt: deps.clock.now() });
    return new LiveWorkspace(workspaceId, wall, stored.limits, (reason) => context.onLost(workspaceId, reason));
  } catch (error) {
    await backend.remove(workspaceId, directory);
    deps.store.deleteWorkspace(workspaceId);
    throw errnoOf(error) === "ENOSPC"
      ? failure("DISK_FULL", "Cannot create the workspace: no space left on the disk", { cause: error })
      : error;
  }
}

export function getBackend(deps: Dependencies, name: string): Backend {
  const backend = deps.backends.get(name);
  if (backend) return backend;
  throw failure("BACKEND_NOT_FOUND", `There is no backend "${name}"`, {
    hint: `Use one of: ${[...deps.backends.keys()].join(", ")}`,
  });
}
