import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { plural } from "../result-words.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_file_write",
  description: "Write a file, replacing what was there; folders are made.",
  input: INPUTS.writeWorkspaceFile.omit({ mode: true }),
  output: z.object({ path: z.string(), bytes_written: z.number().int() }),
  annotations: { ...DESTROYS, idempotentHint: true },
  run: ({ workspace_id: id, path, ...options }, { cloche, signal }) =>
    cloche.writeWorkspaceFile(id, path, { ...options, signal }),
  text: ({ path, bytes_written: bytes }) => `Wrote ${plural(bytes, "byte")} to ${path}`,
});
