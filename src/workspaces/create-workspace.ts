import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import type { Backend, PrepareOptions } from "../contracts/backend.ts";
import type { StoredSession, StoredWorkspace } from "../contracts/store.ts";
import { type Config, DEFAULTS } from "../model/config.ts";
import type { EventOf } from "../model/event.ts";
import { failure } from "../model/error-codes.ts";
import { NO_MODEL_USAGE } from "../model/model-usage.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { Limits } from "../model/workspace.ts";
import type { TokenState } from "../policy/egress/gate-routes.ts";
import { defaultLimits } from "./default-limits.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { chooseNetwork, giveGit, type NetworkChoice, type RunEgress, runNetwork } from "./egress.ts";
import { getBackend, removeSandboxes, startSandbox } from "./sandbox.ts";
import { defaultEnvironment, requireCapabilities } from "./require-capabilities.ts";
import { requireLimits } from "./require-limits.ts";
import { chooseRules } from "./seed-rules.ts";
import { type Secrets, readSecrets } from "./secrets.ts";
import { writeSession } from "./session.ts";

/** What a workspace is made for: an agent at work under a bottle. */
export interface RunOfWorkspace {
  /** Chosen before anything is made, so that what is written down about the run names it. */
  readonly workspaceId: string;
  /** What its bottle lets out, or a choice that was made for another workspace of the run. */
  readonly egress: RunEgress | NetworkChoice;
  /** In the place of those of `config.yaml`. */
  readonly limits: Limits;
  /** The files that it begins with, in the place of a seed; its diff is made against what they were made from. */
  readonly from?: { readonly stored: StoredWorkspace; readonly layers: string[] } | undefined;
}

export interface CreateContext {
  readonly run?: RunOfWorkspace | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ReportProgress | undefined;
  readonly onLost: (workspaceId: string, reason: string) => void;
}

/** Makes a workspace from an environment and a seed. */
export async function createWorkspace(
  deps: Dependencies,
  input: OperationInput<"createWorkspace">,
  context: CreateContext,
): Promise<LiveWorkspace> {
  const { run } = context;
  const config = withLimits(deps.config(), run?.limits);
  const backend = getBackend(deps, input.backend ?? config.backend ?? DEFAULTS.backend);
  requireStated(input, config, backend);
  const { network, tokens } = await networkFor(deps, backend.name, input, run?.egress);
  const { secrets, records } = await readSecrets(input.secrets);
  const rootfs = await deps.environments.ensure(
    input.environment ?? config.environment ?? defaultEnvironment(backend),
    context,
  );
  requireCapabilities(backend, { rootfs, ociRuntime: input.oci_runtime });
  const limits = await chooseLimits(input, config, backend, context);
  const { include, isRemembered, keep } = await chooseRules(input, deps.includes);
  const { tree, seed } = await deps.seeds.import(input.seed_path, { ...context, scope: input.read_scope, include });
  await keep?.();
  context.signal?.throwIfAborted();
  const stored: StoredWorkspace = {
    ...blankWorkspace(deps),
    ...(run && { workspaceId: run.workspaceId }),
    name: input.name ?? null,
    labels: input.labels ?? {},
    environment: rootfs.name,
    backend: backend.name,
    ...network,
    ttlSeconds: input.ttl_seconds ?? config.ttl_seconds ?? DEFAULTS.ttl_seconds,
    keep: input.keep ?? false,
    graceSeconds: input.grace_seconds ?? null,
    limits,
    ociRuntime: input.oci_runtime ?? null,
    idempotencyKey: input.idempotency_key ?? null,
    seed: {
      ...seed,
      included: seed.included && { ...seed.included, is_remembered: isRemembered },
      ...(input.origin_kind && { origin_kind: input.origin_kind }),
      ...(input.origin_ref && { origin_ref: input.origin_ref }),
    },
    baseline: tree,
    layers: [],
    baseLayers: [],
    forkLayers: null,
    secrets: records,
    ...(run?.from && filesOf(run.from)),
  };
  const origin = { kind: "workspace.created", from_workspace_id: run?.from?.stored.workspaceId ?? null } as const;
  const live = await bringUp(deps, stored, { secrets, origin, tokens }, context);
  if (run && "git" in run.egress) giveGit(deps, stored.workspaceId, run.egress.git);
  return live;
}

async function networkFor(
  deps: Dependencies,
  backend: string,
  input: OperationInput<"createWorkspace">,
  egress: RunOfWorkspace["egress"] | undefined,
): Promise<NetworkChoice> {
  if (!egress) return await chooseNetwork(deps, backend, input);
  return "network" in egress ? egress : await runNetwork(deps, backend, egress);
}

/** Over the same baseline. */
function filesOf({
  stored,
  layers,
}: NonNullable<RunOfWorkspace["from"]>): Pick<
  StoredWorkspace,
  "seed" | "baseline" | "layers" | "baseLayers" | "forkLayers"
> {
  const { seed, baseline, baseLayers } = stored;
  return { seed, baseline, layers, baseLayers, forkLayers: layers };
}

type Identity =
  | "workspaceId"
  | "state"
  | "stateReason"
  | "createdAt"
  | "lastActivityAt"
  | "sessionStartedAt"
  | "resetCount"
  | "generation"
  | "idempotencyKey"
  | "keep"
  | "expired"
  | "unchanged"
  | "doors"
  | "allowHosts"
  | "egress"
  | "modelUsage"
  | "wall";

export const newWorkspaceId = (): string => `ws-${randomName(10)}`;

/** What is new in every workspace, made from a seed or forked. */
export function blankWorkspace(deps: Dependencies): Pick<StoredWorkspace, Identity> {
  const now = deps.clock.now();
  return {
    workspaceId: newWorkspaceId(),
    state: "creating",
    stateReason: null,
    createdAt: now,
    lastActivityAt: now,
    sessionStartedAt: now,
    resetCount: 0,
    generation: 1,
    idempotencyKey: null,
    keep: false,
    expired: null,
    unchanged: false,
    doors: [],
    allowHosts: [],
    egress: null,
    modelUsage: { total: NO_MODEL_USAGE, session: NO_MODEL_USAGE },
    wall: null,
  };
}

export interface Birth {
  readonly secrets: Secrets;
  /** What it came from, as the log tells it. */
  readonly origin:
    | Pick<EventOf<"workspace.created">, "kind" | "from_workspace_id">
    | Pick<EventOf<"workspace.forked">, "kind" | "from_workspace_id" | "snapshot_name">;
  /** What its gate puts in. */
  readonly tokens?: ReadonlyMap<string, TokenState> | undefined;
  /** What runs in it from its first moment on. */
  readonly session?: StoredSession | null;
}

/**
 * Records a workspace and starts its sandbox. It is in the store before anything else is made, so that a crash at any point leaves a record that the
 * next daemon undoes.
 */
export async function bringUp(
  deps: Dependencies,
  stored: StoredWorkspace,
  { secrets, origin, session, tokens }: Birth,
  context: CreateContext,
): Promise<LiveWorkspace> {
  const { workspaceId } = stored;
  deps.store.transaction(() => {
    deps.store.insertWorkspace(stored);
    if (session) writeSession(deps.store, workspaceId, session);
  });
  if (tokens) deps.tokens.give(workspaceId, tokens);
  try {
    const onLost = (reason: string) => context.onLost(workspaceId, reason);
    const live = await startSandbox(deps, stored, {
      secrets,
      onLost,
      signal: context.signal,
      progress: context.progress,
    });
    if (context.signal?.aborted === true) {
      // Nobody would ever learn of it, or delete it.
      await live.close("its creation was cancelled", { discard: true });
      context.signal.throwIfAborted();
    }
    deps.store.transaction(() => {
      deps.store.updateWorkspace(workspaceId, {
        state: "started",
        wall: live.wall.record,
        lastActivityAt: deps.clock.now(),
      });
      const { name, environment, backend } = stored;
      deps.events.record({ ...origin, workspace_id: workspaceId, name, environment, backend });
    });
    return live;
  } catch (error) {
    await removeSandboxes(deps, stored);
    deps.tokens.forget(workspaceId);
    deps.store.deleteWorkspace(workspaceId);
    if (errnoOf(error) !== "ENOSPC") throw error;
    throw failure("DISK_FULL", "Cannot create the workspace: no space left on the disk", { cause: error });
  }
}

const withLimits = (config: Config, limits: Limits | undefined): Config =>
  limits ? { ...config, limits: { ...config.limits, ...limits } } : config;

type AskedLimits = Pick<OperationInput<"createWorkspace">, "vcpu_count" | "mem_mib">;

/** Limits that the caller or `config.yaml` states are checked before anything is made. Defaults fit the host and need no check here. */
export function requireStated(input: AskedLimits, { limits }: Config, backend: Backend): void {
  if (limits?.disk_mib !== undefined) {
    throw failure("LIMIT_UNSUPPORTED", `Backend "${backend.name}" cannot limit the disk`, {
      hint: "Remove limits.disk_mib from config.yaml",
    });
  }
  requireLimits(backend, {
    vcpuCount: input.vcpu_count ?? limits?.vcpu_count,
    memMib: input.mem_mib ?? limits?.mem_mib,
  });
}

export async function chooseLimits(
  input: AskedLimits,
  { limits }: Config,
  backend: Backend,
  { signal, progress }: PrepareOptions,
): Promise<StoredWorkspace["limits"]> {
  const stated = { ...limits, ...(input.vcpu_count !== undefined && { vcpu_count: input.vcpu_count }) };
  const usual = await defaultLimits(backend, { limits: stated }, { signal, progress });
  const chosen = { ...usual, memMib: input.mem_mib ?? usual.memMib };
  requireLimits(backend, chosen); // a very small host
  return chosen;
}
