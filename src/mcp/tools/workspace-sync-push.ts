import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { plural } from "../result-words.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_sync_push",
  description: "Copy a folder's contents, an archive or a file of the project into a workspace.",
  input: INPUTS.pushWorkspaceSync.omit({ read_scope: true, placement: true, include: true, include_ignored: true }),
  output: z.object({ dest: z.string(), files: z.number().int() }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, source_path: source, ...options }, { cloche, signal, report }) =>
    cloche.pushWorkspaceSync(id, source, { ...options, signal, onProgress: ({ step }) => report?.(step) }),
  text: ({ dest, files }) => `Copied ${plural(files, "file")} to ${dest}`,
});
