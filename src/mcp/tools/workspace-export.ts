import { z } from "zod";
import { OPERATIONS } from "../../model/operations.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_export",
  description: "Copy a file or folder out to a new path.",
  input: OPERATIONS.exportWorkspace.omit({ cautious: true }),
  output: z.object({ workspace_path: z.string(), output_path: z.string(), artifact_type: z.string() }),
  annotations: ADDS,
  run: ({ workspace_id: id, path, output_path: output }, { cloche, signal }) =>
    cloche.exportWorkspace(id, path, { output_path: output, signal }),
  text: ({ workspace_path: from, output_path: to }) => `Copied ${from} to ${to}`,
});
