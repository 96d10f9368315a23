import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { serviceShape } from "../result-shapes.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "service_list",
  description: "List the services of a workspace.",
  input: INPUTS.listServices,
  output: z.object({
    count: z.number().int(),
    running_count: z.number().int(),
    services: z.array(serviceShape.pick({ service_name: true, state: true })),
  }),
  annotations: READS,
  readOn: "service_status shows one by its name",
  run: ({ workspace_id: id }, { cloche, signal }) => cloche.listServices(id, { signal }),
  text: ({ services }) =>
    services.map(({ service_name: name, state }) => `${name} ${state}`).join("\n") || "No service was started",
});
