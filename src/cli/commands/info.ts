import type { AgentDetail } from "../../model/bottle-plan.ts";
import { AGENT, BACKEND, BOTTLE } from "../arguments/common-options.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { formatPairs, formatTable, type Layout } from "../output/table.ts";

export const command = defineCommand({
  words: ["info"],
  summary: "Show what an agent has, and where each part comes from",
  positionals: [AGENT],
  options: { bottle: BOTTLE, backend: BACKEND },
  examples: ["cloche info reviewer", "cloche info reviewer --bottle dev --json"],
  async run(context) {
    const { bottle: bottles, backend } = context.values;
    const client = await context.connect();
    const detail = await client.inspectAgent(context.argument("AGENT"), {
      bottles,
      backend,
      project_path: context.io.cwd,
    });
    for (const note of detail.notes) context.note(`note: ${note}`);
    await context.print(detail, () => formatDetail(detail, context.layout));
    return 0;
  },
});

function formatDetail(detail: AgentDetail, layout: Layout): string {
  const { variables, questions } = detail.wanted;
  const wanted = [...variables.map((name) => `$${name}`), ...questions.map(({ name }) => `${name} (asked)`)];
  return [
    ...formatPairs(
      [
        ["agent", detail.agent],
        ["file", detail.path ?? "-"],
        ["prompt", detail.prompt ?? "(none)"],
        ["bottle", [...new Set([...detail.merged_bottles])].join(" → ")],
        ["needs", wanted.join(", ") || "(nothing)"],
      ].map(([name = "", value = ""]) => [name, escapeName(value)] as const),
      layout.width,
    ),
    "",
    ...formatTable(
      ["FIELD", "FROM", "VALUE"],
      detail.fields.map(({ field, value, source }) => [escapeName(field), source, escapeName(value)]),
      layout,
    ),
  ].join("\n");
}
