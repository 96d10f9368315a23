import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "shell_signal",
  description: "Send a signal to what runs in a shell (default INT).",
  input: INPUTS.signalShell,
  output: z.object({ signal: z.string(), signalled: z.boolean() }),
  annotations: DESTROYS,
  run: ({ workspace_id: id, shell_id: shell, signal }, { cloche }) => cloche.signalShell(id, shell, { signal }),
  text: ({ signal, signalled }) => (signalled ? `Sent ${signal}` : "Nothing runs there"),
});
