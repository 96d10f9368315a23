import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_export",
  description: "Copy a file or folder out to a new path.",
  // SECURITY: a link that leads out is never put on the host by who has these tools alone (G-12)
  input: INPUTS.exportWorkspace
    .omit({ cautious: true, overwrite: true })
    .extend({ links: z.literal("skip").optional() }),
  output: z.object({
    workspace_path: z.string(),
    output_path: z.string(),
    artifact_type: z.string(),
    skipped_links: z.number(),
  }),
  annotations: ADDS,
  run: ({ workspace_id: id, path, output_path: output, links }, { cloche, signal }) =>
    cloche.exportWorkspace(id, path, { output_path: output, links, signal }),
  text: ({ workspace_path: from, output_path: to, skipped_links: skipped }) =>
    `Copied ${from} to ${to}${skipped > 0 ? `; left out ${skipped} that lead out` : ""}`,
});
