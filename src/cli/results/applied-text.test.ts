import { expect, it } from "vitest";
import type { Applied } from "../../model/applied.ts";
import { createColours } from "../output/colour.ts";
import { arrivalText } from "./applied-text.ts";

const told = (paths: readonly string[]): Applied => ({
  workspace_id: "ws-1",
  identity: "fixer-1",
  as: "patch",
  applied: false,
  checkout_path: "/project",
  base_commit: null,
  branch: null,
  commit: null,
  worktree_path: null,
  entries: [],
  conflict_count: 0,
  left_out: [],
  look_first: [...paths],
  ignored_count: 0,
  plan_digest: "",
});

it("G-186: says that there are more files to look at first than it names", () => {
  const many = Array.from({ length: 60 }, (_, at) => `.a/${at}/package.json`);
  expect(arrivalText(told([...many, ".vscode/tasks.json"]), createColours(false))).toContain(
    "look first  and 21 more that tools obey by themselves",
  );
  const few = arrivalText(told([".vscode/tasks.json"]), createColours(false));
  expect(few).toContain("look first  .vscode/tasks.json");
  expect(few).not.toContain("more that tools");
});
