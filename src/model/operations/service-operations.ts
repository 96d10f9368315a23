import type { Service, ServiceList, ServiceLogs } from "../service.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const serviceOperations = {
  startService: {
    kind: "call",
    input: ({ z, serviceFields, commandFields, Readiness, PublishedPort }) =>
      z.strictObject({
        ...serviceFields,
        ...commandFields,
        readiness: Readiness.nullable().optional(),
        ready_timeout_seconds: z.number().positive().max(3600).optional(),
        published_ports: z.array(PublishedPort).max(64).optional(),
      }),
    result: typeOnly<Service>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "light",
    cli: "workspace service start",
    mcp: { tool: "service_start", profile: "full", reach: "decided" },
  },
  listServices: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<ServiceList>(),
    about: "record",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace service list",
    mcp: { tool: "service_list", profile: "full", reach: "workspace" },
  },
  statusService: {
    kind: "call",
    input: ({ z, serviceFields }) => z.strictObject(serviceFields),
    result: typeOnly<Service>(),
    about: "record",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace service status",
    mcp: { tool: "service_status", profile: "full", reach: "workspace" },
  },
  logsService: {
    kind: "call",
    input: ({ z, serviceFields }) =>
      z.strictObject({
        ...serviceFields,
        tail_lines: z.number().int().min(1).max(1_000_000).optional(),
        all: z.boolean().optional(),
      }),
    result: typeOnly<ServiceLogs>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace service logs",
    mcp: { tool: "service_logs", profile: "full", reach: "workspace" },
  },
  stopService: {
    kind: "call",
    input: ({ z, serviceFields }) => z.strictObject(serviceFields),
    result: typeOnly<Service>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "light",
    cli: "workspace service stop",
    mcp: { tool: "service_stop", profile: "full", reach: "workspace" },
  },
} as const satisfies Record<string, Operation>;
