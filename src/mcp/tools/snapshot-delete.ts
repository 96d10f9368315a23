import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "snapshot_delete",
  description: "Delete a snapshot.",
  input: INPUTS.deleteSnapshot,
  output: z.object({ snapshot_name: z.string(), deleted: z.literal(true) }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, snapshot_name: name }, { cloche, signal }) => cloche.deleteSnapshot(id, name, { signal }),
  text: ({ snapshot_name: name }) => `Deleted snapshot "${name}"`,
});
