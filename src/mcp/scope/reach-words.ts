import type { ToolName } from "../profiles.ts";
import type { ServerAccess } from "./server-access.ts";

/** What the tools reach of the host, for the readers of a server's instructions. */
export function reachWords({ reads, writes, environments, allWorkspaces }: ServerAccess): string {
  return [
    `Of the host, the tools read ${reads.words}.`,
    `They write ${writes.words}.`,
    `Environments are ${environments.allowed.join(", ")}.`,
    allWorkspaces
      ? "Workspaces are all that there are."
      : "Workspaces are those of this project's servers, or without a project those of this session.",
  ].join(" ");
}

/** The same in the descriptions of the tools that it is about: short, because they are read in every conversation. */
export function reachSentences({ writes, environments }: ServerAccess): Partial<Record<ToolName, string>> {
  const where = writes.folder === undefined ? "Refused: there is no output folder." : `It goes to ${writes.shown}.`;
  const listed =
    environments.listed.length === 0 ? {} : { vm_run: `Environments: ${environments.allowed.join(", ")}.` };
  return { workspace_export: where, workspace_disk_export: where, ...listed };
}
