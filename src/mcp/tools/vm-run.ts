import { INPUTS } from "../../model/operation-inputs.ts";
import { boundExec } from "../bounded-exec.ts";
import { execShape } from "../result-shapes.ts";
import { execWords } from "../result-words.ts";
import { ADDS, defineTool } from "../tool.ts";

const { environment, backend, network_policy, seed_path } = INPUTS.createWorkspace.shape;
const { command, cwd, env, timeout_seconds } = INPUTS.execWorkspace.shape;

export const tool = defineTool({
  name: "vm_run",
  description: "Run one command in a fresh sandbox, which is deleted afterwards. Starts empty without seed_path.",
  input: INPUTS.execWorkspace
    .pick({})
    .extend({ command, timeout_seconds, cwd, env, seed_path, environment, backend, network_policy }),
  output: execShape,
  annotations: ADDS,
  run: async (input, { cloche, defaults, signal, report }) =>
    boundExec(
      await cloche.run({
        ...input,
        environment: input.environment ?? defaults.environment,
        backend: input.backend ?? defaults.backend,
        signal,
        onProgress: ({ step }) => report?.(step),
      }),
      false,
    ),
  text: execWords,
});
