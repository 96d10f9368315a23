import { describe, expect, it } from "vitest";
import { TOOLS } from "./tool-registry.ts";
import type { ToolName } from "./profiles.ts";
import { listedInput, takeArguments } from "./flat-arguments.ts";

const take = (tool: ToolName, args: unknown): unknown => takeArguments(tool, TOOLS[tool].input, args);
const id = { workspace_id: "ws-1" };
const service = { ...id, service_name: "web", command: "serve" };

describe("arguments in the flat form become the wire's", () => {
  it.each<[ToolName, object, object]>([
    ["workspace_exec", { ...id, command: "ls" }, { ...id, command: "ls" }],
    ["workspace_exec", { ...id, argv: ["ls", "-l"] }, { ...id, command: ["ls", "-l"] }],
    [
      "workspace_exec",
      { ...id, command: "x", env: ["A=1=2", "B="] },
      { ...id, command: "x", env: { A: "1=2", B: "" } },
    ],
    [
      "workspace_exec",
      { ...id, command: "x", secret_env: ["KEY", "TOKEN=GH"] },
      { ...id, command: "x", secret_env: { KEY: "KEY", TOKEN: "GH" } },
    ],
    ["workspace_create", { labels: ["team=a b"] }, { labels: { team: "a b" } }],
    [
      "workspace_create",
      { secrets: [{ name: "A", value: "1", file_path: null }] },
      { secrets: [{ name: "A", value: "1" }] },
    ],
    ["service_start", { ...service, ready_file: "up" }, { ...service, readiness: { type: "file", path: "up" } }],
    ["service_start", { ...service, ready_tcp: 80 }, { ...service, readiness: { type: "tcp", port: 80 } }],
    ["service_start", { ...service, ready_http: "u" }, { ...service, readiness: { type: "http", url: "u" } }],
    ["service_start", { ...service, ready_command: "c" }, { ...service, readiness: { type: "command", command: "c" } }],
    ["service_start", service, service],
    ["workspace_update", { ...id, name: "" }, { ...id, name: null }],
    ["workspace_update", { ...id, name: null, labels: null }, id],
  ])("%s %j", (tool, given, wire) => {
    expect(take(tool, given)).toEqual(wire);
    // A model in strict mode names all arguments.
    const all = Object.fromEntries(Object.keys(listedInput(TOOLS[tool].input).shape).map((name) => [name, null]));
    expect(take(tool, { ...all, ...given })).toEqual(wire);
  });

  it.each<[ToolName, object]>([
    ["vm_run", { command: ["ls"], env: { A: "1" } }],
    ["workspace_create", { labels: { a: "b" } }],
    ["service_start", { ...service, readiness: { type: "tcp", port: 80 } }],
  ])("and the wire's own are taken as ever: %s %j", (tool, wire) => {
    expect(take(tool, wire)).toEqual(wire);
  });

  it.each<[ToolName, unknown, string]>([
    ["workspace_exec", id, '"command" is missing'],
    ["workspace_exec", { ...id, command: "a", argv: ["b"] }, '"command" and "argv" exclude each other'],
    ["workspace_exec", { ...id, argv: [] }, '"argv" must have at least 1 items'],
    ["workspace_exec", { ...id, argv: "ls" }, '"argv" must be an array'],
    ["workspace_exec", { ...id, command: "a", env: ["A"] }, '"env" has "A", and the form is NAME=VALUE'],
    ["workspace_exec", { ...id, command: "a", env: [7] }, '"env" must be an array of strings'],
    ["workspace_exec", { ...id, command: "a", env: ["1=x"] }, "bad name"],
    ["service_start", { ...service, ready_tcp: "80" }, '"ready_tcp" must be a number'],
    [
      "service_start",
      { ...service, ready_tcp: 80, ready_file: "a" },
      '"ready_file" and "ready_tcp" exclude each other',
    ],
    ["vm_run", { command: "a", nope: 1 }, 'unknown key "nope"; allowed are command, argv, timeout_seconds'],
    ["workspace_list", { argv: ["a"] }, 'unknown key "argv"'],
    ["workspace_list", [], "the input"],
    ["workspace_list", "x", "the input"],
  ])("what does not fit is told in the listed words: %s %j", (tool, given, words) => {
    expect(() => take(tool, given)).toThrow(words);
  });

  it("no name of an object reaches another object", () => {
    const hostile = JSON.parse('{"workspace_id":"ws-1","command":"x","env":["__proto__=1"]}') as object;
    expect(() => take("workspace_exec", hostile)).not.toThrow();
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });
});
