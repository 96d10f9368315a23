import { INPUTS } from "../../model/operation-inputs.ts";
import { serviceShape } from "../result-shapes.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "service_start",
  description:
    "Start a program in the background and wait until it is ready; fails with its last lines when it does not get so.",
  input: INPUTS.startService,
  output: serviceShape,
  annotations: ADDS,
  run: ({ workspace_id: id, service_name: name, ...options }, { cloche, signal }) =>
    cloche.startService(id, name, { ...options, signal }),
  text: ({ service_name: name, state }) => `Service "${name}" is ${state}`,
});
