import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { plural } from "../result-words.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_sync_push",
  description: "Copy a folder's contents or an archive of the project into a workspace.",
  input: INPUTS.pushWorkspaceSync.omit({ read_scope: true }),
  output: z.object({ dest: z.string(), files: z.number().int() }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, source_path: source, dest }, { cloche, signal, report }) =>
    cloche.pushWorkspaceSync(id, source, { dest, signal, onProgress: ({ step }) => report?.(step) }),
  text: ({ dest, files }) => `Copied ${plural(files, "file")} to ${dest}`,
});
