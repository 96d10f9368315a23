import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "snapshot_create",
  description: "Keep the files of this moment under a name; what runs goes on, and is kept too when live.",
  input: INPUTS.createSnapshot,
  output: z.object({ snapshot: z.object({ snapshot_name: z.string(), kind: z.string(), live: z.boolean() }) }),
  annotations: ADDS,
  run: ({ workspace_id: id, snapshot_name: name, ...options }, { cloche, signal }) =>
    cloche.createSnapshot(id, name, { ...options, signal }),
  text: ({ snapshot: { snapshot_name: name, live } }) => `Kept as "${name}"${live ? ", with what runs" : ""}`,
});
