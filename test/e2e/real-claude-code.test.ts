import { it } from "vitest";
import { expectAgentRepairs } from "../helpers/agent-repairs.ts";

it("Claude Code, connected by one command in a fresh home, goes through the repro-fix loop with cloche's tools", async () => {
  await expectAgentRepairs("claude", "claude-code");
});
