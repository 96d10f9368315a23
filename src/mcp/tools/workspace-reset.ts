import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_reset",
  description: "Go back to a snapshot in a new sandbox; what came after it is gone.",
  input: INPUTS.resetWorkspace,
  output: z.object({ reset_count: z.number().int(), workspace_reset: z.object({ snapshot_name: z.string() }) }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, snapshot }, { cloche, signal, report }) =>
    cloche.resetWorkspace(id, { snapshot, signal, onProgress: ({ step }) => report?.(step) }),
  text: ({ workspace_reset: { snapshot_name: name } }) => `Reset to "${name}"`,
});
