import type { ClocheError } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";

/** What whoever needs the running sandbox of a workspace is told: why there is none, and how it comes back with its files. */
export function notRunning({
  workspaceId,
  state,
  stateReason,
}: Pick<StoredWorkspace, "workspaceId" | "state" | "stateReason">): ClocheError {
  const start = `\`cloche workspace start ${workspaceId}\``;
  const reset = `\`cloche workspace reset ${workspaceId} --snapshot NAME\``;
  return failure(
    "WORKSPACE_NOT_RUNNING",
    `Workspace ${workspaceId} is ${state}${stateReason ? `: ${stateReason}` : ""}`,
    {
      hint:
        state === "failed"
          ? `Start it again with ${start}, or go back to a snapshot with ${reset}`
          : `Start it with ${start}`,
    },
  );
}
