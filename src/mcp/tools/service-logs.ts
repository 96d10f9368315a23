import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { cutMiddle, SIDE_BUDGET, TEXT_BUDGET } from "../bounded.ts";
import { defineTool, READS } from "../tool.ts";

const HOW = "ask for fewer lines with tail_lines";

export const tool = defineTool({
  name: "service_logs",
  description: "Show what a service printed: the last lines, or all.",
  input: INPUTS.logsService,
  output: z.object({ state: z.string(), stdout: z.string(), stderr: z.string(), truncated: z.boolean() }),
  annotations: READS,
  async run({ workspace_id: id, service_name: name, ...options }, { cloche, signal }) {
    const logs = await cloche.logsService(id, name, { ...options, signal });
    const stdout = cutMiddle(logs.stdout, TEXT_BUDGET, HOW);
    const stderr = cutMiddle(logs.stderr, SIDE_BUDGET, HOW);
    const cut = stdout !== logs.stdout || stderr !== logs.stderr;
    return { ...logs, stdout, stderr, truncated: logs.truncated || cut };
  },
  text: ({ state, stdout, stderr }) => `The service is ${state}\nstdout:\n${stdout}\nstderr:\n${stderr}`,
});
