import { INPUTS } from "../../model/operation-inputs.ts";
import { workspaceShape } from "../result-shapes.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_fork",
  description:
    "Make a new workspace with the files of this one as they are now, or of a snapshot. With rebase its diff shows only what changes in it.",
  input: INPUTS.forkWorkspace.extend({
    snapshot: INPUTS.forkWorkspace.shape.snapshot.describe("Default: the files as they are now"),
    rebase: INPUTS.forkWorkspace.shape.rebase.describe(
      "What it begins with is its baseline; default: the parent's baseline",
    ),
    labels: INPUTS.forkWorkspace.shape.labels.describe("Default: the parent's"),
  }),
  output: workspaceShape,
  annotations: ADDS,
  run: ({ workspace_id: id, ...options }, { cloche, signal, report }) =>
    cloche.forkWorkspace(id, { ...options, signal, onProgress: ({ step }) => report?.(step) }),
  text: ({ workspace_id: id }) => `Forked to ${id}`,
});
