import { z } from "zod";
import { INPUTS } from "../../model/operation-inputs.ts";
import type { Summary } from "../../model/summary.ts";
import { count } from "../bounded.ts";
import { plural } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

const MOST = 100;

export const tool = defineTool({
  name: "workspace_summary",
  description: "Tell what happened since the workspace was created or reset.",
  input: INPUTS.summarizeWorkspace,
  output: z.object({
    outcome: z.object({ command_count: z.number().int(), export_count: z.number().int() }),
    changes: z.object({
      changed: z.boolean(),
      summary: z.object({ total: z.number().int() }),
      ignored_count: z.number().int(),
    }),
  }),
  annotations: READS,
  readOn: "workspace_diff, workspace_logs and snapshot_list show the rest",
  run: async ({ workspace_id: id }, { cloche, signal }) =>
    boundSummary(await cloche.summarizeWorkspace(id, { signal })),
  text: ({ outcome, changes: { summary, ignored_count: ignored } }) =>
    [
      plural(outcome.command_count, "command"),
      plural(summary.total, "change") + (ignored > 0 ? ` (and ${count(ignored)} ignored)` : ""),
      plural(outcome.export_count, "export"),
    ].join(", "),
});

/** Lists that grow with what happened, at their first entries. */
export function boundSummary(summary: Summary): Summary {
  const { changes, artifacts } = summary;
  return {
    ...summary,
    changes: { ...changes, entries: changes.entries.slice(0, MOST) },
    artifacts: { exports: artifacts.exports.slice(0, MOST) },
  };
}
