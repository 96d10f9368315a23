import { expect, it } from "vitest";
import { formatTime } from "../base/local-time.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { notRunning } from "./not-running.ts";

const workspaceId = "ws-0000000001";
const expiry = { keep: false, expired: null } as const;
const expired: StoredWorkspace["expired"] = { at: 0, graceSeconds: 60, uptime: null };

it("says how a workspace comes back, never that it is to be thrown away", () => {
  const stopped = notRunning({ workspaceId, state: "stopped", stateReason: null, ...expiry });
  expect(stopped).toMatchObject({
    code: "WORKSPACE_NOT_RUNNING",
    message: `Workspace ${workspaceId} is stopped`,
    hint: `Start it with \`cloche workspace start ${workspaceId}\``,
  });
  const failed = notRunning({ workspaceId, state: "failed", stateReason: "the machine has ended", ...expiry });
  expect(failed.message).toBe(`Workspace ${workspaceId} is failed: the machine has ended`);
  expect(failed.hint).toContain(`workspace start ${workspaceId}`);
  expect(failed.hint).toContain(`workspace reset ${workspaceId}`);
  const over = notRunning({ workspaceId, state: "expired", stateReason: "its time is over", keep: false, expired });
  expect(over.message).toBe(
    `Workspace ${workspaceId} is expired: its time is over; it is deleted at ${formatTime(60)}`,
  );
  expect(over.hint).toContain(`workspace start ${workspaceId}`);
  for (const hint of [stopped.hint, failed.hint]) expect(hint).not.toMatch(/delete|create/i);
});
