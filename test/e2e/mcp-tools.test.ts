import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FULL_ARGUMENTS, MODE_NAMES, MODES, PROFILE_NAMES, PROFILES, type ToolName } from "../../src/mcp/profiles.ts";
import { TOOLS } from "../../src/mcp/tool-registry.ts";
import { Installation } from "../helpers/installation.ts";
import { everyToolCall, makeProjectToPush } from "../helpers/mcp-calls.ts";
import { type McpClient, withMcp } from "../helpers/mcp-client.ts";

let at: Installation;
beforeAll(() => {
  at = new Installation("mcpt");
});
afterAll(() => at[Symbol.asyncDispose]());

const NONE = ["--no-project-source"];
const list = (flags: readonly string[]) => withMcp(at, [...NONE, ...flags], (client) => client.tools());

describe("what is served is what the tables say", () => {
  it.each(PROFILE_NAMES)("profile %s", async (profile) => {
    const tools = await list(["--profile", profile]);
    expect(tools.map(({ name }) => name)).toEqual(PROFILES[profile]);
    const offered = new Set(tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties)));
    const full = FULL_ARGUMENTS.filter((name) => offered.has(name));
    expect(full).toEqual(profile === "workspace-full" ? FULL_ARGUMENTS : []);
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description, name).toBeTruthy();
      expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false });
      expect(Object.keys(outputSchema.properties).length, name).toBeGreaterThan(0);
      expect(annotations, name).toMatchObject({ openWorldHint: false });
      expect(annotations["readOnlyHint"], name).toBeTypeOf("boolean");
    }
  });

  it.each(MODE_NAMES)("mode %s", async (mode) => {
    const tools = await list(["--mode", mode]);
    expect(tools.map(({ name }) => name)).toEqual(MODES[mode].tools);
    const rewritten: Partial<Record<ToolName, string>> = MODES[mode].descriptions;
    for (const [name, description] of Object.entries(rewritten)) {
      expect(tools.find((tool) => tool.name === name)?.description).toContain(description);
      expect(description).not.toBe(TOOLS[name as ToolName].description);
    }
    const offered = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties));
    expect(offered.filter((name) => FULL_ARGUMENTS.includes(name))).toEqual([]);
  });

  it("is refused for a profile that lacks what the mode needs, and for unknown names, before anything starts", async () => {
    for (const flags of [
      ["--profile", "vm-run", "--mode", "inspect"],
      ["--profile", "no"],
      ["--mode", "no"],
      ["--repo-ref", "main"],
      ["--project-path", at.path("missing")],
      ["--project-path", ".", "--no-project-source"],
    ]) {
      const result = await at.cli(["mcp", "serve", ...flags], { input: "" });
      expect([result.code, result.stdout], flags.join(" ")).toEqual([2, ""]);
      expect(result.stderr).toMatch(/^error: .+\nhint: .+\n$/);
    }
  });

  it("is small enough to be read in every conversation", async () => {
    const tools = await withMcp(at, [], async (client) => (await client.ask("tools/list")).result, {
      cwd: process.cwd(),
    });
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(12_000);
  });
});

it("every tool does its work, answers as its output schema says and in words too", async () => {
  const project = at.path("project");
  makeProjectToPush(project);
  await withMcp(at, ["--project-path", project, "--profile", "workspace-full"], async (client: McpClient) => {
    const made = await client.call("workspace_create", { name: "all" });
    expect(TOOLS.workspace_create.output.safeParse(made).error).toBeUndefined();
    const id = made["workspace_id"] as string;
    const called = new Set<string>(["workspace_create"]);
    let shellId = "";
    for (const [name, args] of everyToolCall(id)) {
      const answer = await client.tool(name, "shell_id" in args ? { ...args, shell_id: shellId } : args);
      expect(answer.isError, `${name}: ${JSON.stringify(answer.structuredContent)}`).toBeUndefined();
      expect(TOOLS[name].output.safeParse(answer.structuredContent).error, name).toBeUndefined();
      expect(answer.content, name).toEqual([{ type: "text", text: expect.stringMatching(/\S/) as string }]);
      if (name === "shell_open") shellId = answer.structuredContent["shell_id"] as string;
      if (name === "workspace_fork") {
        await client.call("workspace_delete", { workspace_id: answer.structuredContent["workspace_id"] });
      }
      called.add(name);
    }
    expect([...called].toSorted()).toEqual([...PROFILES["workspace-full"]].toSorted());
    expect(readFileSync(join(project, `.cloche/exports/out-${id}`), "utf8")).toBe("two\n");
  });
});

it("create with a key gives the same workspace again, also to another server of the project and while it is being made", async () => {
  mkdirSync(at.path("keyed"));
  const flags = ["--project-path", at.path("keyed")];
  const create = (client: McpClient, key: string) => client.create({ idempotency_key: key });
  await withMcp(at, flags, (one) =>
    withMcp(at, flags, async (other) => {
      const ids = await Promise.all([create(one, "k"), create(one, "k"), create(other, "k")]);
      expect(new Set(ids).size).toBe(1);
      const third = await create(one, "other");
      expect(ids).not.toContain(third);
      await one.call("workspace_delete", { workspace_id: ids[0] });
      const anew = await create(other, "k");
      expect(ids).not.toContain(anew);
      for (const workspace_id of [third, anew]) await other.call("workspace_delete", { workspace_id });
    }),
  );
});
