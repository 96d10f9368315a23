import { expect, it } from "vitest";
import { tool } from "./tools/workspace-export.ts";

it("G-12 a client of these tools cannot ask for links that lead out", () => {
  const call = (links?: string) =>
    tool.input.safeParse({ workspace_id: "ws-1", path: "a", output_path: "b", ...(links !== undefined && { links }) });
  for (const links of [undefined, "skip"]) expect(call(links).success, links).toBe(true);
  expect(call("keep").success).toBe(false);
});
