import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { readThatFits } from "../bounded.ts";
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
  run: ({ workspace_id: id, shell_id: shell, max_chars: most, ...options }, { cloche, signal }) =>
    readThatFits(
      (max_chars) => cloche.readShell(id, shell, { ...options, max_chars, signal }),
      ({ output }) => output,
      most,
    ),
  text: ({ output, truncated, next_cursor: next }) =>
    `${output}${truncated ? `\n[… there is more; read on with cursor ${next} …]` : ""}` || "No output yet",
});
