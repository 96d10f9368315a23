import { failure } from "../../model/error-codes.ts";
import { call, way } from "../../model/hint.ts";
import { type NetworkPolicy, WORKSPACE_ROOT } from "../../model/names.ts";
import type { OperationInput } from "../../model/operations.ts";
import { publishesPorts } from "../../policy/network-policies.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../../policy/workspace-path.ts";
import { toArgv } from "../../model/command-environment.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { sandboxEnvironment } from "../sandbox-environment.ts";
import { hasAny } from "../secrets.ts";
import { createProbe, type Probe } from "./readiness.ts";
import type { ServiceCommand } from "./service-process.ts";

const DEFAULT_READY_SECONDS = 30;
const PUBLISHING_POLICY = "published-ports" satisfies NetworkPolicy;

export interface ServicePlan {
  readonly command: ServiceCommand;
  readonly probe: Probe | undefined;
  readonly readyTimeoutMs: number;
  readonly ports: readonly { readonly guestPort: number; readonly hostPort: number }[];
}

/** What a start needs, checked before anything is started or written. */
export function planService(
  live: LiveWorkspace,
  input: OperationInput<"startService">,
  networkPolicy: NetworkPolicy,
): ServicePlan {
  const ports = input.published_ports ?? [];
  if (ports.length > 0 && !publishesPorts(networkPolicy)) {
    throw failure(
      "NETWORK_POLICY_UNSUPPORTED",
      `A workspace with network policy "${networkPolicy}" publishes no ports`,
      {
        hint: [
          way`The policy is chosen at creation; a copy of this workspace that has it: ${call("createWorkspace", { from_workspace: live.workspaceId, network_policy: PUBLISHING_POLICY })}`,
        ],
      },
    );
  }
  const secrets = live.secrets.environment(input.secret_env);
  return {
    command: {
      argv: toArgv(input.command),
      env: { ...sandboxEnvironment(live, input.env, false), ...secrets },
      hasSecrets: hasAny(secrets),
      cwd: input.cwd === undefined ? WORKSPACE_ROOT : toWorkspaceAbsolute(toWorkspaceRelative(input.cwd)),
      pids: live.limits.pids,
    },
    probe: input.readiness ? createProbe(live, input.readiness) : undefined,
    readyTimeoutMs: (input.ready_timeout_seconds ?? DEFAULT_READY_SECONDS) * 1000,
    ports: ports.map((port) => ({ guestPort: port.guest_port, hostPort: port.host_port ?? 0 })),
  };
}
