import type { Workspace } from "../../model/workspace.ts";
import { defineCommand } from "../command.ts";
import { formatAge, formatUntil } from "../duration.ts";
import { escapeName } from "../escape.ts";
import { formatTable } from "../table.ts";

const HEADER = ["ID", "NAME", "STATE", "ENVIRONMENT", "BACKEND", "COMMANDS", "AGE", "EXPIRES"] as const;

export const command = defineCommand({
  words: ["workspace", "list"],
  summary: "List the workspaces, newest activity first",
  positionals: [],
  options: {},
  examples: ["cloche workspace list", "cloche workspace list --json | jq -r '.workspaces[].workspace_id'"],
  async run(context) {
    const list = await (await context.connect()).listWorkspaces();
    if (list.count === 0 && !context.json) context.note("No workspaces");
    const now = Date.now() / 1000;
    await context.print(list, () =>
      list.count === 0 ? "" : formatWorkspaces(list.workspaces, now, context.colours.bold),
    );
    return 0;
  },
});

function formatWorkspaces(workspaces: readonly Workspace[], now: number, bold: (text: string) => string): string {
  const rows = workspaces.map((workspace) =>
    [
      workspace.workspace_id,
      workspace.name ?? "-",
      workspace.state,
      workspace.environment,
      workspace.backend,
      String(workspace.command_count),
      formatAge(now - workspace.created_at),
      formatUntil(workspace.expires_at - now),
    ].map(escapeName),
  );
  const [header = "", ...lines] = formatTable(HEADER, rows);
  return [bold(header), ...lines].join("\n");
}
