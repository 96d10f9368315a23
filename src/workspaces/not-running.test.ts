import { expect, it } from "vitest";
import { notRunning } from "./not-running.ts";

const workspaceId = "ws-0000000001";

it("says how a workspace comes back, never that it is to be thrown away", () => {
  const stopped = notRunning({ workspaceId, state: "stopped", stateReason: null });
  expect(stopped).toMatchObject({
    code: "WORKSPACE_NOT_RUNNING",
    message: `Workspace ${workspaceId} is stopped`,
    hint: `Start it with \`cloche workspace start ${workspaceId}\``,
  });
  const failed = notRunning({ workspaceId, state: "failed", stateReason: "the machine has ended" });
  expect(failed.message).toBe(`Workspace ${workspaceId} is failed: the machine has ended`);
  expect(failed.hint).toContain(`workspace start ${workspaceId}`);
  expect(failed.hint).toContain(`workspace reset ${workspaceId}`);
  for (const hint of [stopped.hint, failed.hint]) expect(hint).not.toMatch(/delete|create/i);
});
