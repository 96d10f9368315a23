import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { TEXT_BUDGET } from "../bounded.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "shell_read",
  description:
    "Show the output of a shell from cursor on; wait_for_idle_ms waits until it is quiet, plain shows it as a person sees it.",
  input: INPUTS.readShell,
  output: z.object({
    state: z.string(),
    output: z.string(),
    cursor: z.number().int(),
    next_cursor: z.number().int(),
    truncated: z.boolean(),
  }),
  annotations: READS,
  run: ({ workspace_id: id, shell_id: shell, max_chars: most = TEXT_BUDGET, ...options }, { cloche, signal }) =>
    cloche.readShell(id, shell, { ...options, max_chars: Math.min(most, TEXT_BUDGET), signal }),
  text: ({ output, truncated, next_cursor: next }) =>
    `${output}${truncated ? `\n[… there is more; read on with cursor ${next} …]` : ""}` || "No output yet",
});
