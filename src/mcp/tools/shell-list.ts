import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { firstEntries } from "../bounded.ts";
import { shellShape } from "../result-shapes.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "shell_list",
  description: "List the terminals of a workspace.",
  input: INPUTS.listShells,
  output: z.object({ count: z.number().int(), running_count: z.number().int(), shells: z.array(shellShape) }),
  annotations: READS,
  async run({ workspace_id: id }, { cloche, signal }) {
    const list = await cloche.listShells(id, { signal });
    return { ...list, shells: firstEntries(list.shells) };
  },
  text: ({ shells }) => shells.map(({ shell_id: id, state }) => `${id} ${state}`).join("\n") || "No shell is open",
});
