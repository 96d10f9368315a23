import { expect, it } from "vitest";
import { parseInput, parseJson } from "./request-body.ts";
import type { OperationName } from "../model/operations.ts";

const messageFor = (operation: OperationName, input: unknown): string => {
  try {
    parseInput(operation, input);
  } catch (error) {
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    return (error as Error).message;
  }
  throw new Error("was accepted");
};

const exec = (fields: object) => ({ workspace_id: "ws-1", command: "true", ...fields });

it.each<[OperationName, unknown, string]>([
  ["statusWorkspace", { workspace_id: "w", foo: 1, bar: 2 }, 'unknown key "foo"; allowed are workspace_id'],
  ["listWorkspaces", { all: true }, 'unknown key "all"; none is allowed'],
  ["streamWorkspace", exec({ pty: { cols: 1, rows: 1, x: 1 } }), 'unknown key "x" in "pty"; allowed are cols, rows'],
  ["statusWorkspace", {}, '"workspace_id" is missing'],
  ["statusWorkspace", [], "the input must be an object"],
  ["execWorkspace", { workspace_id: "w" }, '"command" is missing'],
  ["execWorkspace", exec({ command: 5 }), '"command" must be a string or an array'],
  ["execWorkspace", exec({ command: [5] }), '"command" must be a string or an array of strings'],
  ["execWorkspace", exec({ command: "" }), '"command" must have at least 1 characters'],
  ["execWorkspace", exec({ timeout_seconds: "9" }), '"timeout_seconds" must be a number'],
  ["execWorkspace", exec({ timeout_seconds: 0 }), '"timeout_seconds" must be more than 0'],
  [
    "execWorkspace",
    exec({ env: { "a-b": "c" } }),
    "\"env.a-b\" has a bad name: a variable's name is letters, digits and '_', and starts with no digit",
  ],
  ["execWorkspace", exec({ cwd: "a\0b" }), '"cwd" is not valid: a path has no NUL'],
  ["createWorkspace", { mem_mib: 1 }, '"mem_mib" must be at least 64'],
  ["createWorkspace", { vcpu_count: 1.5 }, '"vcpu_count" must be a whole number'],
  [
    "createWorkspace",
    { network_policy: "on" },
    '"network_policy" must be one of off, published-ports, egress, egress+published-ports',
  ],
  ["createWorkspace", { labels: { a: "x".repeat(257) } }, '"labels.a" must have at most 256 characters'],
])("%s with %j: %s", (operation, input, expected) => {
  expect(messageFor(operation, input)).toBe(`Cannot do ${operation}: ${expected}`);
});

it("says the schema's own words about a name", () => {
  expect(messageFor("createWorkspace", { name: "-x" })).toContain('"name" is not valid: a name is 1 to 64 letters');
  expect(messageFor("createWorkspace", { labels: { "-": "" } })).toContain('"labels.-" has a bad name: a label key is');
});

it("takes no input for an empty one, and tells what is no JSON", () => {
  expect(parseJson("listWorkspaces", Buffer.alloc(0))).toEqual({});
  expect(() => parseJson("listWorkspaces", Buffer.from("{"))).toThrow("it is not JSON");
});
