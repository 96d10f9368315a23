import type { Workspace } from "../../model/workspace.ts";
import { defineCommand } from "../command.ts";
import { formatAge } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable, type Layout } from "../output/table.ts";
import { formatEnd } from "../results/workspace-details.ts";

/** Those that fit into 80 columns with an ordinary name; the rest is in `cloche workspace status`. */
const HEADER = ["ID", "NAME", "STATE", "ENVIRONMENT", "BACKEND", "AGE", "EXPIRES"] as const;

export const command = defineCommand({
  words: ["workspace", "list"],
  summary: "List the workspaces, newest activity first",
  description: "`cloche ls` and `cloche ps` are short for it.",
  positionals: [],
  options: { quiet: { type: "boolean", short: "q", description: "Print the ids and nothing else" } },
  examples: [
    "cloche workspace list",
    "cloche workspace delete $(cloche workspace list -q)",
    "cloche workspace list --json | jq -r '.workspaces[].workspace_id'",
  ],
  async run(context) {
    const list = await (await context.connect()).listWorkspaces();
    const { quiet } = context.values;
    if (list.count === 0 && !context.json && !quiet) context.note("No workspaces");
    const now = Date.now() / 1000;
    await context.print(list, () => {
      if (list.count === 0) return "";
      return quiet
        ? list.workspaces.map(({ workspace_id: id }) => id).join("\n")
        : formatWorkspaces(list.workspaces, now, context.layout);
    });
    return 0;
  },
});

function formatWorkspaces(workspaces: readonly Workspace[], now: number, layout: Layout): string {
  const rows = workspaces.map((workspace) =>
    [
      workspace.workspace_id,
      workspace.name ?? "-",
      workspace.state,
      workspace.environment,
      workspace.backend,
      formatAge(now - workspace.created_at),
      formatEnd(workspace, now),
    ].map(escapeName),
  );
  return formatTable(HEADER, rows, layout).join("\n");
}
