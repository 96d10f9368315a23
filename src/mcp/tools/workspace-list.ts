import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import { page } from "../bounded.ts";
import { cursor, nextCursor } from "../paging.ts";
import { workspaceShape } from "../result-shapes.ts";
import { plural } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_list",
  description: "List your workspaces, newest activity first.",
  input: INPUTS.listWorkspaces.extend({ cursor }),
  output: z.object({
    count: z.number().int(),
    workspaces: z.array(workspaceShape.pick({ workspace_id: true, name: true, state: true })),
    next_cursor: nextCursor,
  }),
  annotations: READS,
  async run(input, { cloche, signal }) {
    const { count, workspaces } = await cloche.listWorkspaces({ signal });
    const { entries, nextCursor: next } = page(workspaces, input.cursor);
    return { count, workspaces: entries, next_cursor: next };
  },
  text: ({ count, workspaces, next_cursor: next }) =>
    [
      plural(count, "workspace"),
      ...workspaces.map(({ workspace_id: id, name, state }) => `${id} ${state}${name === null ? "" : ` ${name}`}`),
      ...(next === null ? [] : [`[… read on with cursor ${next} …]`]),
    ].join("\n"),
});
