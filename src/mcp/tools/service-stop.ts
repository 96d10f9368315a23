import { INPUTS } from "../../model/operation-inputs.ts";
import { serviceShape } from "../result-shapes.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "service_stop",
  description: "Stop a service and all that it started.",
  input: INPUTS.stopService,
  output: serviceShape,
  annotations: { ...DESTROYS, idempotentHint: true },
  run: ({ workspace_id: id, service_name: name }, { cloche, signal }) => cloche.stopService(id, name, { signal }),
  text: ({ service_name: name, state }) => `Service "${name}" is ${state}`,
});
