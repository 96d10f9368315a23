import { INPUTS } from "../../model/operation-inputs.ts";
import { workspaceShape } from "../result-shapes.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_status",
  description: "Show one workspace.",
  input: INPUTS.statusWorkspace,
  output: workspaceShape,
  annotations: READS,
  run: ({ workspace_id: id }, { cloche, signal }) => cloche.statusWorkspace(id, { signal }),
  text: ({ workspace_id: id, state, expires_at: expires }) =>
    `${id} is ${state}; ${expires === null ? "it never expires" : `${state === "expired" ? "since" : "it expires at"} ${new Date(expires * 1000).toISOString()}`}`,
});
