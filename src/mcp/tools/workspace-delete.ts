import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_delete",
  description: "Delete a workspace and all that is in it.",
  input: INPUTS.deleteWorkspace,
  output: z.object({ workspace_id: z.string(), deleted: z.literal(true) }),
  annotations: DESTROYS,
  run: ({ workspace_id: id }, { cloche, signal }) => cloche.deleteWorkspace(id, { signal }),
  text: ({ workspace_id: id }) => `Deleted ${id}`,
});
