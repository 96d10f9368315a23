import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer } from "../../src/mcp/create-server.ts";
import type { McpTransport } from "../../src/mcp/mcp-transport.ts";
import { MODE_NAMES, PROFILE_NAMES, type ToolName } from "../../src/mcp/profiles.ts";
import type { ServerOptions } from "../../src/mcp/server-options.ts";
import { Installation } from "../helpers/installation.ts";
import {
  aiSdkTools,
  clientOf,
  genAiTools,
  langChainTools,
  linkedPair,
  type ModelTool,
  openAiTools,
} from "../helpers/model-clients.ts";
import { lossesOf, type Schema, unknownToGemini } from "../helpers/schema-losses.ts";

let at: Installation;
beforeAll(() => {
  at = new Installation("mcpc");
});
afterAll(() => at[Symbol.asyncDispose]());

/** A server of ours at the other end of a transport of theirs. */
async function transportTo(options: ServerOptions): Promise<unknown> {
  const [theirs, ours] = linkedPair();
  await createServer({ no_project_source: true, ...options, home: at.home }).connect(ours as McpTransport);
  return theirs;
}

/** Every loss on the way to every kind of model. */
async function lossesOfAll(connect: () => Promise<unknown>): Promise<string[]> {
  const client = await clientOf(await connect());
  const { tools } = await client.listTools();
  const genAi = await genAiTools(client);
  const strict = await openAiTools(client);
  const compare = (library: string, found: readonly ModelTool[], isStrict = false) =>
    tools.flatMap(({ name, description, inputSchema }) => {
      const one = found.find((tool) => tool.name === name);
      const said = one?.description === description ? [] : [" lost its description"];
      const losses = lossesOf(inputSchema, one?.parameters, isStrict);
      return [...said, ...losses].map((loss) => `${library} ${name}${loss}`);
    });
  return [
    ...compare("@openai/agents", strict, true),
    ...strict.flatMap((tool) => (tool.strict ? [] : [`@openai/agents ${tool.name} is not strict`])),
    ...compare("@langchain/mcp-adapters", await langChainTools(client)),
    ...compare("@ai-sdk/google", await aiSdkTools(await connect())),
    ...compare("@google/genai", genAi.json),
    ...compare("@google/genai", genAi.older),
    ...tools.flatMap(({ name, inputSchema, outputSchema }) =>
      [...unknownToGemini(inputSchema), ...unknownToGemini(outputSchema)].map((key) => `Gemini ${name} ${key}`),
    ),
  ];
}

const SELECTIONS: ServerOptions[] = [
  ...PROFILE_NAMES.map((profile) => ({ profile })),
  ...MODE_NAMES.map((mode) => ({ mode })),
];

describe("nothing of a tool gets lost on its way to a model", () => {
  it.each(SELECTIONS)("%j", async (options) => {
    expect(await lossesOfAll(() => transportTo(options))).toEqual([]);
  });

  it("and it would show: a choice of types, a map, a constant, a condition", async () => {
    const properties = {
      command: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      env: { type: "object", additionalProperties: { type: "string" } },
      links: { const: "skip" },
    };
    const inputSchema = { type: "object", properties, required: ["command"], additionalProperties: false };
    const losses = await lossesOfAll(() => transportToTool(inputSchema));
    for (const [library, field] of [
      ["@openai/agents", "env"],
      ["@langchain/mcp-adapters", "command"],
      ["@ai-sdk/google", "command"],
      ["@google/genai", "command"],
      ["Gemini", "const"],
    ]) {
      expect(
        losses.some((loss) => loss.startsWith(library!) && loss.includes(field!)),
        `${library} ${field}`,
      ).toBe(true);
    }
  });
});

/** A server with one tool, by hand. */
async function transportToTool(inputSchema: Schema): Promise<unknown> {
  const [theirs, ours] = linkedPair() as [unknown, McpTransport];
  const result = (method: string) =>
    method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "one", version: "1" } }
      : { tools: [{ name: "one", description: "One", inputSchema, outputSchema: { type: "object", properties: {} } }] };
  ours.onmessage = (message: { id?: number; method: string }) => {
    if (message.id === undefined) return;
    void ours.send({ jsonrpc: "2.0", id: message.id, result: result(message.method) } as never);
  };
  await ours.start();
  return theirs;
}

describe("a call as a model makes it arrives", () => {
  const all = (tool: ModelTool, args: object) => ({
    ...Object.fromEntries(Object.keys(tool.parameters["properties"] as object).map((name) => [name, null])),
    ...args,
  });
  const find = (tools: readonly ModelTool[], name: ToolName) => tools.find((tool) => tool.name === name)!;
  const args = { argv: ["sh", "-c", "echo $GREETING"], env: ["GREETING=hello=you"], environment: "host" };

  it("of OpenAI's strict mode, which names every argument and leaves out with null", async () => {
    const client = await clientOf(await transportTo({ profile: "workspace-full" }));
    const run = find(await openAiTools(client), "vm_run");
    expect(JSON.stringify(await run.call?.(all(run, args)))).toContain("hello=you");
  });

  it("of LangChain, which checks it against the listed schema", async () => {
    const client = await clientOf(await transportTo({}));
    const run = find(await langChainTools(client), "vm_run");
    expect(JSON.stringify(await run.call?.(args))).toContain("hello=you");
  });
});
