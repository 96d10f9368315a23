import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { changeShape } from "../result-shapes.ts";
import { plural } from "../result-words.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_patch_apply",
  description: "Apply a unified diff: all of it or nothing.",
  input: INPUTS.applyWorkspacePatch,
  output: z.object({ changed: z.boolean(), files: z.array(changeShape), total: z.number().int() }),
  annotations: DESTROYS,
  readOn: "workspace_diff shows what changed",
  async run({ workspace_id: id, patch }, { cloche, signal }) {
    const applied = await cloche.applyWorkspacePatch(id, { patch, signal });
    return { ...applied, total: applied.files.length };
  },
  text: ({ files, total }) =>
    [`Changed ${plural(total, "file")}`, ...files.map(({ path, status }) => `${status} ${path}`)].join("\n"),
});
