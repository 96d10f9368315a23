import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

const FOLDER = join(agentsFolder(), "@modelcontextprotocol/inspector-cli/build");
const server = () => [
  ...[process.execPath, join(PROJECT, "dist/cli/main.js"), "mcp", "serve"],
  ...["--profile", "workspace-full", "--project-path", at.path("project")],
];

/** One run of the official Inspector's CLI, which starts the server as a host does. */
async function inspect(method: string, args: readonly string[] = []): Promise<Record<string, unknown>> {
  const words = ["index.js", ...server(), "--method", method, ...args];
  const result = await runProcess(process.execPath, words, { cwd: FOLDER, env: at.env }); // it looks for its own version from the folder it is in
  expect(result.code, `${args.join(" ")}: ${result.stderr}`).toBe(0);
  return result.json();
}

interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent: Record<string, unknown>;
}

/** What the CLI calls a tool with, on a connection that stays: a run for each of forty tools took more time than the tools do. */
interface Inspector {
  connect(client: object, transport: object): Promise<void>;
  callTool(client: object, name: string, args: object): Promise<ToolResult>;
  disconnect(transport: object): Promise<void>;
}

async function withInspector(
  body: (call: (name: string, args: object) => Promise<ToolResult>) => Promise<void>,
): Promise<void> {
  const { Client } = (await import(
    pathToFileURL(createRequire(join(FOLDER, "index.js")).resolve("@modelcontextprotocol/sdk/client/index.js")).href
  )) as { Client: new (identity: object) => object };
  const inspector = (await import(join(FOLDER, "client/index.js"))) as Inspector;
  const { createTransport } = (await import(join(FOLDER, "transport.js"))) as {
    createTransport: (options: object) => object;
  };
  const [command, ...args] = ["/usr/bin/env", `CLOCHE_HOME=${at.home}`, ...server()];
  const client = new Client({ name: "inspector-cli", version: "1" });
  const transport = createTransport({ transportType: "stdio", command, args });
  await inspector.connect(client, transport);
  try {
    await body((name, words) => inspector.callTool(client, name, words));
  } finally {
    await inspector.disconnect(transport);
  }
}

it(
  "the official Inspector lists and calls every tool, resource template and prompt",
  { timeout: 300_000 },
  async () => {
    makeProjectToPush(at.path("project"));
    const { tools } = (await inspect("tools/list")) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(PROFILES["workspace-full"]);
    const made = (await inspect("tools/call", ["--tool-name", "workspace_create", "--tool-arg", "name=inspected"])) as {
      structuredContent: { workspace_id: string };
    };
    const id = made.structuredContent.workspace_id;
    await withInspector(async (call) => {
      let shellId = "";
      for (const [name, args] of everyToolCall(id)) {
        const result = await call(name, "shell_id" in args ? { ...args, shell_id: shellId } : args);
        expect(result.isError, `${name}: ${JSON.stringify(result)}`).toBeUndefined();
        if (name === "shell_open") shellId = result.structuredContent["shell_id"] as string;
      }
    });
    expect((await inspect("resources/templates/list"))["resourceTemplates"]).toHaveLength(3);
    expect((await inspect("prompts/list"))["prompts"]).toHaveLength(5);
  },
);
