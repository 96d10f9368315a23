import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "snapshot_list",
  description: "List the snapshots of a workspace, baseline first.",
  input: INPUTS.listSnapshots,
  output: z.object({
    count: z.number().int(),
    snapshots: z.array(
      z.object({ snapshot_name: z.string(), kind: z.string(), live: z.boolean(), size_bytes: z.number().int() }),
    ),
  }),
  annotations: READS,
  run: ({ workspace_id: id }, { cloche, signal }) => cloche.listSnapshots(id, { signal }),
  text: ({ snapshots }) =>
    snapshots.map(({ snapshot_name: name, live }) => (live ? `${name}, with what ran` : name)).join("\n"),
});
