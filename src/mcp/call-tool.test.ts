import { expect, it } from "vitest";
import { failure, type FailOptions } from "../model/error-codes.ts";
import { argument, call, way } from "../model/hint.ts";
import { errorResult } from "./call-tool.ts";
import type { Tool } from "./tool.ts";
import { tool as create } from "./tools/workspace-create.ts";
import { tool as exportTool } from "./tools/workspace-export.ts";

const hintOf = (hint: FailOptions["hint"] & object, tool: Tool): unknown =>
  (errorResult(failure("INVALID_ARGUMENT", "No", { hint }), tool).structuredContent["error"] as { hint: string }).hint;

it("a hint names tools and their arguments, and other commands as they are", () => {
  const limit = way`Give ${argument("mem_mib")} (limits.mem_mib in config.yaml) of 128 or more`;
  expect(hintOf([limit], create)).toBe("Give mem_mib (limits.mem_mib in config.yaml) of 128 or more");
  const start = way`Start it with ${call("startWorkspace", { workspace_id: "ws-1" })}`;
  expect(hintOf([start], create)).toBe("Start it with `workspace_start`");
  const pull = way`Run ${call("pullEnvironment", { environment: "debian:12" })}`;
  expect(hintOf([pull], create)).toBe("Run `cloche env pull debian:12`");
});

it("a way that the tool does not have is not advised", () => {
  const skip = way`Leave such links out with ${argument("links", "skip")}`;
  const keep = way`take them as they are with ${argument("links", "keep")}`;
  expect(hintOf([skip, keep], exportTool)).toBe('Leave such links out with links "skip"');
  expect(failure("PATH_OUTSIDE_WORKSPACE", "No", { hint: [skip, keep] }).hint).toBe(
    "Leave such links out with --links skip, or take them as they are with --links keep",
  );
});
