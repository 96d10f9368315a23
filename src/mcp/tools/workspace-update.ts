import { INPUTS } from "../../model/operation-inputs.ts";
import { Workspace } from "../../model/workspace.ts";
import { defineTool, SETS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_update",
  description: "Change a workspace's name, labels and life.",
  input: INPUTS.updateWorkspace.extend({
    name: INPUTS.updateWorkspace.shape.name.describe("Empty: takes it away"),
  }),
  output: Workspace.pick({ workspace_id: true, name: true }),
  annotations: SETS,
  run: ({ workspace_id: id, ...changes }, { cloche, signal }) => cloche.updateWorkspace(id, { ...changes, signal }),
  text: ({ workspace_id: id, name }) => `Updated ${id}${name === null ? "" : ` ("${name}")`}`,
});
