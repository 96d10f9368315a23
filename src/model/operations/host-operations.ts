import type { Environment, EnvironmentDetail, EnvironmentList, EnvironmentsPruned } from "../environment.ts";
import type { DaemonStatus, Health, McpToken } from "../health.ts";
import type { Prepared } from "../prepared.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const hostOperations = {
  listEnvironments: {
    kind: "call",
    input: ({ z }) => z.strictObject({}),
    result: typeOnly<EnvironmentList>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "env list",
    mcp: null,
  },
  /** `build_network`: where steps of others build it, they may use the network. */
  pullEnvironment: {
    kind: "call",
    input: ({ z, environmentName }) =>
      z.strictObject({ environment: environmentName, build_network: z.boolean().optional() }),
    result: typeOnly<Environment>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "env pull",
    mcp: null,
  },
  inspectEnvironment: {
    kind: "call",
    input: ({ z, environmentName }) => z.strictObject({ environment: environmentName }),
    result: typeOnly<EnvironmentDetail>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "env inspect",
    mcp: null,
  },
  pruneEnvironments: {
    kind: "call",
    input: ({ z, environmentName }) =>
      z.strictObject({
        environments: z.array(environmentName).min(1).max(256).optional(),
        dry_run: z.boolean().optional(),
      }),
    result: typeOnly<EnvironmentsPruned>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "env prune",
    mcp: null,
  },
  prepare: {
    kind: "call",
    input: ({ z, placeFields }) => z.strictObject(placeFields),
    result: typeOnly<Prepared>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "light",
    cli: "prepare",
    mcp: null,
  },
  doctor: {
    kind: "call",
    input: ({ z, searchPath, placeFields: { backend, oci_runtime } }) =>
      z.strictObject({
        backend,
        oci_runtime,
        /** Their PATH, on which programs of agents are looked for. */
        search_path: searchPath.optional(),
      }),
    result: typeOnly<Health>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "doctor",
    mcp: null,
  },
  daemonStatus: {
    kind: "call",
    input: ({ z }) => z.strictObject({}),
    result: typeOnly<DaemonStatus>(),
    about: "daemon",
    repeatable: true,
    activity: "none",
    lane: "always",
    cli: "daemon status",
    mcp: null,
  },
  /** `show` makes one when there is none. */
  mcpToken: {
    kind: "call",
    input: ({ z }) => z.strictObject({ action: z.enum(["show", "rotate", "revoke"]).optional() }),
    result: typeOnly<McpToken>(),
    about: "daemon",
    repeatable: false,
    activity: "none",
    lane: "always",
    cli: "mcp token",
    mcp: null,
  },
  stopDaemon: {
    kind: "call",
    input: ({ z }) => z.strictObject({}),
    result: typeOnly<{ stopped: boolean }>(),
    about: "daemon",
    repeatable: true,
    activity: "none",
    lane: "always",
    cli: "daemon stop",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
