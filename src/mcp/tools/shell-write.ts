import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { plural } from "../result-words.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "shell_write",
  description: "Type into a shell, with a newline unless append_newline is false.",
  input: INPUTS.writeShell,
  output: z.object({ bytes_written: z.number().int() }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, shell_id: shell, ...options }, { cloche, signal }) =>
    cloche.writeShell(id, shell, { ...options, signal }),
  text: ({ bytes_written: bytes }) => `Typed ${plural(bytes, "byte")}`,
});
