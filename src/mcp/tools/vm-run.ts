import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import type { WorkspaceSeed } from "../../model/workspace.ts";
import { boundExec } from "../bounded-exec.ts";
import { execShape } from "../result-shapes.ts";
import { execWords, leftOutWords } from "../result-words.ts";
import { ADDS, defineTool } from "../tool.ts";

const { environment, backend, network_policy, allow_hosts, seed_path, include, include_ignored } =
  INPUTS.createWorkspace.shape;
const { command, cwd, env, timeout_seconds } = INPUTS.execWorkspace.shape;

export const tool = defineTool({
  name: "vm_run",
  description: "Run one command in a fresh sandbox, which is deleted afterwards. Starts empty without seed_path.",
  input: INPUTS.execWorkspace.pick({}).extend({
    command,
    timeout_seconds,
    cwd,
    env,
    seed_path,
    include,
    include_ignored,
    environment,
    backend,
    network_policy,
    allow_hosts,
  }),
  output: execShape.extend({ workspace_seed: z.unknown() }),
  annotations: ADDS,
  async run(input, { cloche, defaults, signal, report }) {
    const { workspace_seed, ...result } = await cloche.run({
      ...input,
      environment: input.environment ?? defaults.environment,
      backend: input.backend ?? defaults.backend,
      signal,
      onProgress: ({ step }) => report?.(step),
    });
    return { ...boundExec(result, false), workspace_seed };
  },
  text: (result) => {
    const left = leftOutWords(result.workspace_seed as WorkspaceSeed);
    return result.exit_code === 0 || left === "" ? execWords(result) : `${execWords(result)}\nIt ran${left}`;
  },
});
