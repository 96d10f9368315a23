import type { AgentList } from "../../model/bottle-plan.ts";
import type { RunList } from "../../model/run.ts";
import { usageError } from "../arguments/usage-error.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable, type Layout } from "../output/table.ts";

export const command = defineCommand({
  words: ["list"],
  summary: "List the agents and bottles, or the runs",
  description:
    "Agents are files in agents/ of the cloche home and in .cloche/agents/ of the current folder; bottles are files in bottles/ of the cloche home.",
  positionals: [{ name: "active", description: "The runs that work now", optional: true, choices: ["active"] }],
  options: { all: { type: "boolean", description: "With active: also the runs that have ended and are kept" } },
  examples: ["cloche list", "cloche list active", "cloche list active --all", "cloche list --json"],
  async run(context) {
    const { all } = context.values;
    const isActive = context.optionalArgument("active") !== undefined;
    if (all && !isActive) throw usageError(this.words, "--all is for `cloche list active`");
    if (isActive) {
      const runs = await (await context.connect()).listRuns({ all });
      await context.print(runs, () => formatRuns(runs, context.layout, all));
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

function formatRuns({ runs }: RunList, layout: Layout, all: boolean | undefined): string {
  if (runs.length === 0)
    return all ? "There are no runs" : "No agent is at work; `cloche list active --all` has the runs that were kept";
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
