import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "shell_close",
  description: "End a shell and drop its output.",
  input: INPUTS.closeShell,
  output: z.object({ shell_id: z.string(), closed: z.literal(true) }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, shell_id: shell }, { cloche, signal }) => cloche.closeShell(id, shell, { signal }),
  text: ({ shell_id: shell }) => `Closed shell ${shell}`,
});
