import { INPUTS } from "../../model/operation-inputs.ts";
import { workspaceShape } from "../result-shapes.ts";
import { defineTool, SETS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_start",
  description: "Start a stopped workspace.",
  input: INPUTS.startWorkspace,
  output: workspaceShape,
  annotations: SETS,
  run: ({ workspace_id: id }, { cloche, signal }) => cloche.startWorkspace(id, { signal }),
  text: ({ workspace_id: id, state }) => `${id} is ${state}`,
});
