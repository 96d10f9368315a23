import { INPUTS } from "../../model/operation-inputs.ts";
import { serviceShape } from "../result-shapes.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "service_status",
  description: "Show one service.",
  input: INPUTS.statusService,
  output: serviceShape,
  annotations: READS,
  run: ({ workspace_id: id, service_name: name }, { cloche, signal }) => cloche.statusService(id, name, { signal }),
  text: ({ service_name: name, state }) => `Service "${name}" is ${state}`,
});
