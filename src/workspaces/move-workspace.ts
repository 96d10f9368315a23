import type { Backend } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { OperationInput } from "../model/operations.ts";
import { type CreateContext, blankWorkspace, bringUp } from "./create-workspace.ts";
import { defaultLimits } from "./default-limits.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { type NetworkChoice, chooseNetwork, inheritNetwork, takesHosts } from "./egress.ts";
import { requireCapabilities } from "./require-capabilities.ts";
import { requireLimits } from "./require-limits.ts";
import { statedRules } from "./seed-rules.ts";
import { getBackend, sandboxDirectory } from "./sandbox.ts";
import { Secrets, readSecrets } from "./secrets.ts";
import { inheritedLabels } from "./inherited-labels.ts";

/**
 * A new workspace with what another one is now, on any backend: its files, baseline, name, labels and secrets, and what else was not asked for otherwise.
 * A layer is the same on every backend, so it costs what was written. The other one stays; its snapshots, services and shells are its own.
 */
export async function moveWorkspace(
  deps: Dependencies,
  from: { readonly stored: StoredWorkspace; readonly secrets: Secrets },
  input: OperationInput<"createWorkspace">,
  context: CreateContext,
): Promise<LiveWorkspace> {
  const { stored: parent } = from;
  if (input.seed_path !== undefined || statedRules(input) !== undefined || input.remember_include) {
    throw failure("INVALID_ARGUMENT", "A workspace is made from another workspace or from a seed, not from both", {
      hint: [way`Leave out the seed (${argument("seed_path")})`, way`the workspace (${argument("from_workspace")})`],
    });
  }
  const backend = getBackend(deps, input.backend ?? parent.backend);
  requireLimits(backend, { vcpuCount: input.vcpu_count, memMib: input.mem_mib });
  const { network, tokens } = await networkOf(deps, backend, parent, input);
  const given = await readSecrets(input.secrets);
  const rootfs = await deps.environments.ensure(input.environment ?? parent.environment, context);
  const ociRuntime = input.oci_runtime ?? (backend.name === parent.backend ? parent.ociRuntime : null);
  requireCapabilities(backend, { rootfs, ociRuntime, from: parent.workspaceId });
  const usual = await inheritedLimits(parent, deps, backend, context);
  const limits = {
    ...usual,
    vcpuCount: input.vcpu_count ?? usual.vcpuCount,
    memMib: input.mem_mib ?? usual.memMib,
  };
  requireLimits(backend, limits);
  const child: StoredWorkspace = {
    ...parent,
    ...blankWorkspace(deps),
    name: input.name ?? parent.name,
    labels: input.labels ?? inheritedLabels(parent.labels),
    environment: rootfs.name,
    backend: backend.name,
    ...network,
    ttlSeconds: input.ttl_seconds ?? parent.ttlSeconds,
    keep: input.keep ?? parent.keep,
    graceSeconds: input.grace_seconds ?? parent.graceSeconds,
    limits,
    ociRuntime,
    secrets: [...parent.secrets.filter(({ name }) => !given.secrets.values.has(name)), ...given.records],
  };
  const secrets = new Secrets(new Map([...from.secrets.values, ...given.secrets.values]));
  const origin = { kind: "workspace.created", from_workspace_id: parent.workspaceId } as const;
  const source = { directory: sandboxDirectory(deps.home, parent), layers: parent.layers };
  return await deps.layers.add(
    getBackend(deps, parent.backend),
    source,
    (layers) => bringUp(deps, { ...child, layers }, { secrets, origin, tokens }, context),
    context.signal,
  );
}

/** As it was asked for, or as the other one has it. */
async function networkOf(
  deps: Dependencies,
  backend: Backend,
  parent: StoredWorkspace,
  input: OperationInput<"createWorkspace">,
): Promise<NetworkChoice> {
  const { network_policy = input.egress === undefined ? parent.networkPolicy : "egress" } = input;
  const isInherited = takesHosts(network_policy) && input.allow_hosts === undefined && input.egress === undefined;
  if (!isInherited) return await chooseNetwork(deps, backend.name, { ...input, network_policy });
  if (parent.egress !== null) return inheritNetwork(deps, backend.name, network_policy, parent);
  return await chooseNetwork(deps, backend.name, { network_policy, allow_hosts: parent.allowHosts });
}

/** Limits that somebody chose go along; the usual ones of one backend become those of the other. */
async function inheritedLimits(
  { backend: before, limits }: StoredWorkspace,
  deps: Dependencies,
  backend: Backend,
  { signal, progress }: CreateContext,
): Promise<StoredWorkspace["limits"]> {
  if (before === backend.name) return limits;
  const config = deps.config();
  const usual = await defaultLimits(getBackend(deps, before), config, { signal, progress });
  const isUsual = (["vcpuCount", "memMib", "pids"] as const).every((name) => limits[name] === usual[name]);
  return isUsual ? await defaultLimits(backend, config, { signal, progress }) : limits;
}
