import type { AgentList } from "../../model/bottle-plan.ts";
import type { RunList } from "../../model/run.ts";
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
  examples: ["cloche list", "cloche list active", "cloche list --json"],
  async run(context) {
    if (context.optionalArgument("active") !== undefined) {
      const runs = await (await context.connect()).listRuns();
      await context.print(runs, () => formatRuns(runs, context.layout));
      return 0;
    }
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

function formatRuns({ runs }: RunList, layout: Layout): string {
  if (runs.length === 0) return "No agent is at work";
  const rows = runs.map(({ identity, agent_name, backend, state, workspace_id, label }) => [
    identity,
    agent_name,
    escapeName(backend),
    state,
    workspace_id,
    escapeName(label ?? "-"),
  ]);
  return formatTable(["IDENTITY", "AGENT", "BACKEND", "STATE", "WORKSPACE", "LABEL"], rows, layout).join("\n");
}
