import { INPUTS } from "../../model/operation-inputs.ts";
import { shellShape } from "../result-shapes.ts";
import { defineTool, SETS } from "../tool.ts";

export const tool = defineTool({
  name: "shell_resize",
  description: "Change the size of a shell's terminal.",
  input: INPUTS.resizeShell,
  output: shellShape,
  annotations: SETS,
  run: ({ workspace_id: id, shell_id: shell, cols, rows }, { cloche, signal }) =>
    cloche.resizeShell(id, shell, { cols, rows, signal }),
  text: ({ shell_id: shell }) => `Resized shell ${shell}`,
});
