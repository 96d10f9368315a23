import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { plural } from "../result-words.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_disk_export",
  description: "Write all files of a stopped workspace to one new file.",
  input: INPUTS.exportWorkspaceDisk.omit({ cautious: true }),
  output: z.object({ output_path: z.string(), format: z.string(), size_bytes: z.number().int() }),
  annotations: ADDS,
  run: ({ workspace_id: id, ...options }, { cloche, signal, report }) =>
    cloche.exportWorkspaceDisk(id, { ...options, signal, onProgress: ({ step }) => report?.(step) }),
  text: ({ output_path: to, size_bytes: bytes }) => `Wrote ${plural(bytes, "byte")} to ${to}`,
});
