import type { AgentDetail, AgentList, ManifestStarted, PlannedRun } from "../bottle-plan.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const bottleOperations = {
  listAgents: {
    kind: "call",
    input: ({ z, manifestFields }) => z.strictObject(manifestFields),
    result: typeOnly<AgentList>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "list",
    mcp: null,
  },
  inspectAgent: {
    kind: "call",
    input: ({ z, runFields }) => z.strictObject(runFields),
    result: typeOnly<AgentDetail>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "info",
    mcp: null,
  },
  /** What starting it would do. Makes nothing. */
  planRun: {
    kind: "call",
    input: ({ z, runFields }) => z.strictObject(runFields),
    result: typeOnly<PlannedRun>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "start",
    mcp: null,
  },
  /** Writes a first bottle and a first agent, and never over what is there. */
  initManifest: {
    kind: "call",
    input: ({ z }) =>
      z.strictObject({ provider: z.string().max(64).optional(), auth_token: z.string().max(64).optional() }),
    result: typeOnly<ManifestStarted>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "init",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
