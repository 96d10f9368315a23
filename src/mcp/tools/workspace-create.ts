import { z } from "zod";
import { OPERATIONS } from "../../model/operations.ts";
import { workspaceShape } from "../result-shapes.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_create",
  description: "Create a disposable, isolated workspace to work in.",
  input: OPERATIONS.createWorkspace.omit({ oci_runtime: true, origin_kind: true, origin_ref: true }),
  output: workspaceShape.extend({
    workspace_seed: z.object({ mode: z.string(), seed_path: z.string().nullable(), origin_ref: z.string().nullable() }),
  }),
  annotations: ADDS,
  async run(input, { cloche, defaults, source, signal, report }) {
    const onProgress = ({ step }: { step: string }) => report?.(step);
    const isMoved = input.from_workspace !== undefined; // then all that the call does not name is as with that one
    const seed = input.seed_path === undefined && !isMoved ? await source.seed({ signal, onProgress }) : {};
    return await cloche.createWorkspace({
      ...input,
      ...seed,
      environment: input.environment ?? (isMoved ? undefined : defaults.environment),
      backend: input.backend ?? (isMoved ? undefined : defaults.backend),
      signal,
      onProgress,
    });
  },
  text({ workspace_id: id, workspace_seed: { mode, seed_path: path, origin_ref: ref } }, { from_workspace: from }) {
    if (from !== undefined) return `Created ${id} from ${from}`;
    return `Created ${id}, ${mode === "empty" ? "empty" : `with the files of ${ref ?? path ?? "the seed"}`}`;
  },
});
