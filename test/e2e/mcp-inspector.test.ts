import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROFILES } from "../../src/mcp/profiles.ts";
import { agentsFolder } from "../helpers/agents.ts";
import { Installation, PROJECT, runProcess } from "../helpers/installation.ts";
import { everyToolCall, makeProjectToPush } from "../helpers/mcp-calls.ts";

let at: Installation;
beforeAll(() => {
  at = new Installation("mcpi");
});
afterAll(() => at[Symbol.asyncDispose]());

/** One run of the official Inspector's CLI, which starts the server as a host does. */
async function inspect(method: string, args: readonly string[] = []): Promise<Record<string, unknown>> {
  const folder = join(agentsFolder(), "@modelcontextprotocol/inspector-cli/build");
  const server = [process.execPath, join(PROJECT, "dist/cli/main.js"), "mcp", "serve"];
  const flags = ["--profile", "workspace-full", "--project-path", at.path("project")];
  const words = ["index.js", ...server, ...flags, "--method", method, ...args];
  const result = await runProcess(process.execPath, words, { cwd: folder, env: at.env }); // it looks for its own version from the folder it is in
  expect(result.code, `${args.join(" ")}: ${result.stderr}`).toBe(0);
  return result.json();
}

const call = (name: string, args: object) => {
  const pairs = Object.entries(args).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return inspect("tools/call", ["--tool-name", name, ...(pairs.length === 0 ? [] : ["--tool-arg", ...pairs])]);
};

it(
  "the official Inspector's CLI lists and calls every tool, resource template and prompt",
  { timeout: 300_000 },
  async () => {
    makeProjectToPush(at.path("project"));
    const { tools } = (await inspect("tools/list")) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(PROFILES["workspace-full"]);
    const made = (await call("workspace_create", { name: "inspected" })) as {
      structuredContent: { workspace_id: string };
    };
    const id = made.structuredContent.workspace_id;
    let shellId = "";
    for (const [name, args] of everyToolCall(id)) {
      const result = (await call(name, "shell_id" in args ? { ...args, shell_id: shellId } : args)) as {
        isError?: boolean;
        structuredContent: Record<string, unknown>;
      };
      expect(result.isError, `${name}: ${JSON.stringify(result)}`).toBeUndefined();
      if (name === "shell_open") shellId = result.structuredContent["shell_id"] as string;
    }
    expect((await inspect("resources/templates/list"))["resourceTemplates"]).toHaveLength(3);
    expect((await inspect("prompts/list"))["prompts"]).toHaveLength(5);
  },
);
