import { INPUTS } from "../../model/operation-inputs.ts";
import { workspaceShape } from "../result-shapes.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_stop",
  description: "Stop a workspace; its files stay.",
  input: INPUTS.stopWorkspace,
  output: workspaceShape,
  annotations: { ...DESTROYS, idempotentHint: true },
  run: ({ workspace_id: id }, { cloche, signal }) => cloche.stopWorkspace(id, { signal }),
  text: ({ workspace_id: id, state }) => `${id} is ${state}`,
});
