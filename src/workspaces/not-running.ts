import type { ClocheError } from "../base/errors.ts";
import { formatTime } from "../base/local-time.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";

/** The error for a call that needs a running sandbox: why there is none, and how it comes back with its files. */
export function notRunning({
  workspaceId,
  state,
  stateReason,
  keep,
  expired,
}: Pick<StoredWorkspace, "workspaceId" | "state" | "stateReason" | "keep" | "expired">): ClocheError {
  const start = call("startWorkspace", { workspace_id: workspaceId });
  const reset = call("resetWorkspace", { workspace_id: workspaceId, snapshot: "NAME" });
  const deletesAt = expired && !keep ? expired.at + expired.graceSeconds : undefined;
  const deletion = deletesAt === undefined ? "" : `; it is deleted at ${formatTime(deletesAt)}`;
  return failure(
    "WORKSPACE_NOT_RUNNING",
    `Workspace ${workspaceId} is ${state}${stateReason ? `: ${stateReason}` : ""}${deletion}`,
    {
      hint:
        state === "failed"
          ? [way`Start it again with ${start}`, way`go back to a snapshot with ${reset}`]
          : [way`Start it with ${start}`],
    },
  );
}
