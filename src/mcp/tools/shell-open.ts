import { INPUTS } from "../../model/operation-inputs.ts";
import { shellShape } from "../result-shapes.ts";
import { ADDS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "shell_open",
  description: "Open a terminal that stays open between calls.",
  input: INPUTS.openShell,
  output: shellShape,
  annotations: ADDS,
  run: ({ workspace_id: id, ...options }, { cloche, signal }) => cloche.openShell(id, { ...options, signal }),
  text: ({ shell_id: shell }) => `Opened shell ${shell}`,
});
