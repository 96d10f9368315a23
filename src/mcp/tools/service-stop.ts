import { OPERATIONS } from "../../model/operations.ts";
import { serviceShape } from "../result-shapes.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "service_stop",
  description: "Stop a service and all that it started.",
  input: OPERATIONS.stopService,
  output: serviceShape,
  annotations: { ...DESTROYS, idempotentHint: true },
  run: ({ workspace_id: id, service_name: name }, { cloche, signal }) => cloche.stopService(id, name, { signal }),
  text: ({ service_name: name, state }) => `Service "${name}" is ${state}`,
});
