import { failure } from "../../model/error-codes.ts";
import type { AgentList } from "../../model/bottle-plan.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable, type Layout } from "../output/table.ts";

export const command = defineCommand({
  words: ["list"],
  summary: "List the agents and bottles, or the runs",
  description:
    "Agents are files in agents/ of the cloche home and in .cloche/agents/ of the current folder; bottles are files in bottles/ of the cloche home.",
  positionals: [{ name: "active", description: "The runs that work now", optional: true, choices: ["active"] }],
  options: {},
  examples: ["cloche list", "cloche list --json"],
  async run(context) {
    if (context.optionalArgument("active") !== undefined)
      throw failure("NOT_SUPPORTED", "This version starts no runs, so there is no list of them", {
        hint: "Leave `active` out to see the agents and bottles",
      });
    const list = await (await context.connect()).listAgents({ project_path: context.io.cwd });
    for (const note of list.notes) context.note(`note: ${note}`);
    await context.print(list, () => formatList(list, context.layout));
    return 0;
  },
});

function formatList({ agents, bottles }: AgentList, layout: Layout): string {
  if (agents.length + bottles.length === 0) return "No agents and no bottles; make the first ones with `cloche init`";
  const agentRows = agents.map(({ name, bottle, provider, source, problem }) => [
    name,
    escapeName(bottle ?? "-"),
    escapeName(provider ?? "-"),
    source,
    escapeName(problem ?? "ok"),
  ]);
  const bottleRows = bottles.map(({ name, extends: parents, problem }) => [
    name,
    escapeName(parents.join(", ") || "-"),
    escapeName(problem ?? "ok"),
  ]);
  return [
    ...formatTable(["AGENT", "BOTTLE", "PROVIDER", "FROM", "STATE"], agentRows, layout),
    "",
    ...formatTable(["BOTTLE", "EXTENDS", "STATE"], bottleRows, layout),
  ].join("\n");
}
