import { z } from "zod";
import { PublishedPort, Readiness } from "../service.ts";
import { commandFields, name, workspaceId } from "./fields.ts";

const service = { workspace_id: workspaceId, service_name: name };

export const serviceOperations = {
  startService: z.strictObject({
    ...service,
    ...commandFields,
    readiness: Readiness.nullable().optional(),
    ready_timeout_seconds: z.number().positive().max(3600).optional(),
    published_ports: z.array(PublishedPort).max(64).optional(),
  }),
  listServices: z.strictObject({ workspace_id: workspaceId }),
  statusService: z.strictObject(service),
  logsService: z.strictObject({
    ...service,
    tail_lines: z.number().int().min(1).max(1_000_000).optional(),
    all: z.boolean().optional(),
  }),
  stopService: z.strictObject(service),
};
