import type { CompleteResult } from "@modelcontextprotocol/server";
import type { ScopedClient } from "./scope/scoped-client.ts";

const MOST = 100;

/** What a user may mean by the beginning of a value: the ids there are, for a workspace. */
export async function completeArgument(
  cloche: ScopedClient,
  argument: { name: string; value: string },
  signal: AbortSignal,
): Promise<CompleteResult["completion"]> {
  if (argument.name !== "workspace_id") return { values: [], total: 0, hasMore: false };
  const { workspaces } = await cloche.listWorkspaces({ signal });
  const fitting = workspaces.map((one) => one.workspace_id).filter((id) => id.startsWith(argument.value));
  return { values: fitting.slice(0, MOST), total: fitting.length, hasMore: fitting.length > MOST };
}
