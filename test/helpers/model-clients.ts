import { createRequire } from "node:module";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { testPackages } from "./agents.ts";
import type { Schema } from "./schema-losses.ts";

/** A tool as it goes to a model, and a way to call it as that library does. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  /** Of OpenAI: whether the model is held to the schema. */
  readonly strict?: boolean;
  readonly call?: (args: object) => Promise<unknown>;
}

/** What the libraries have in common of the protocol's own client. */
export interface ProtocolClient {
  listTools(): Promise<{ tools: { name: string; inputSchema: Schema; outputSchema: Schema; description: string }[] }>;
  callTool(params: { name: string; arguments: object }): Promise<{ content: unknown; isError?: boolean }>;
  close(): Promise<void>;
}

type Maker<Thing> = new (...args: unknown[]) => Thing;

const require = createRequire(join(testPackages("model-clients"), "here.js"));
/** They have types of their own, which this project does not install. */
const load = (name: string): unknown => require(name) as unknown;

interface LinkedPair {
  readonly createLinkedPair: () => [unknown, unknown];
}

export const linkedPair = (): [unknown, unknown] =>
  (
    load("@modelcontextprotocol/sdk/inMemory.js") as { InMemoryTransport: LinkedPair }
  ).InMemoryTransport.createLinkedPair();

export async function clientOf(transport: unknown): Promise<ProtocolClient> {
  type Connecting = ProtocolClient & { connect(transport: unknown): Promise<void> };
  const { Client } = load("@modelcontextprotocol/sdk/client/index.js") as { Client: Maker<Connecting> };
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return client;
}

/** `@openai/agents` in its strict mode. */
export async function openAiTools(client: ProtocolClient): Promise<ModelTool[]> {
  const { mcpToFunctionTool, RunContext, setTracingDisabled } = load("@openai/agents") as {
    mcpToFunctionTool: (
      tool: object,
      server: object,
      strict: boolean,
    ) => ModelTool & {
      invoke(context: object, input: string): Promise<unknown>;
    };
    RunContext: Maker<object>;
    setTracingDisabled: (disabled: boolean) => void;
  };
  setTracingDisabled(true);
  const server = {
    name: "cloche",
    callTool: async (name: string, args: object) => (await client.callTool({ name, arguments: args })).content,
  };
  return (await client.listTools()).tools.map((one) => {
    const { name, description, parameters, strict = false, ...tool } = mcpToFunctionTool(one, server, true);
    const call = (args: object) => tool.invoke(new RunContext(), JSON.stringify(args));
    return { name, description, parameters, strict, call };
  });
}

/** `@langchain/mcp-adapters`, as its models of OpenAI's API get the tools. */
export async function langChainTools(client: ProtocolClient): Promise<ModelTool[]> {
  const { loadMcpTools } = load("@langchain/mcp-adapters") as {
    loadMcpTools: (name: string, client: object, options: object) => Promise<LangChainTool[]>;
  };
  const { convertToOpenAITool } = load("@langchain/core/utils/function_calling") as {
    convertToOpenAITool: (tool: object) => { function: Omit<ModelTool, "call"> };
  };
  const tools = await loadMcpTools("cloche", client, { throwOnLoadError: true });
  return tools.map((tool) => ({ ...convertToOpenAITool(tool).function, call: (args) => tool.invoke(args) }));
}

/** `@ai-sdk/mcp` for the tools, `@ai-sdk/google` for the model. */
export async function aiSdkTools(transport: unknown): Promise<ModelTool[]> {
  const { createMCPClient } = load("@ai-sdk/mcp") as {
    createMCPClient: (options: object) => Promise<{ tools(): Promise<Record<string, AiSdkTool>> }>;
  };
  const { createGoogleGenerativeAI } = load("@ai-sdk/google") as {
    createGoogleGenerativeAI: (options: object) => (model: string) => { doGenerate(call: object): Promise<unknown> };
  };
  const found = await (await createMCPClient({ transport })).tools();
  const tools = Object.entries(found).map(([name, { description, inputSchema }]) => ({
    type: "function",
    name,
    description,
    inputSchema: inputSchema.jsonSchema,
  }));
  return await sentToGemini(async (baseURL) => {
    const model = createGoogleGenerativeAI({ apiKey: "none", baseURL })("gemini-2.5-pro");
    await model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }], tools });
  });
}

interface LangChainTool {
  invoke(args: object): Promise<unknown>;
}

interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: { readonly jsonSchema: Schema };
}

/** `@google/genai`: with the schemas that it sends as they are, and as it writes them in the API's older form. */
export async function genAiTools(client: ProtocolClient): Promise<{ json: ModelTool[]; older: ModelTool[] }> {
  const { GoogleGenAI, mcpToTool } = load("@google/genai") as {
    GoogleGenAI: Maker<{ models: { generateContent(call: object): Promise<unknown> } }>;
    mcpToTool: (client: object) => { tool(): Promise<object> };
  };
  const send = (tools: unknown[]) =>
    sentToGemini(async (baseUrl) => {
      const { models } = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
      await models.generateContent({ model: "gemini-2.5-pro", contents: "hi", config: { tools } });
    });
  const { tools } = await client.listTools();
  const declarations = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parameters: structuredClone(inputSchema),
  }));
  return {
    json: await send([await mcpToTool(client).tool()]),
    older: await send([{ functionDeclarations: declarations }]),
  };
}

/** The tools that reach the model's API, which is a server on loopback. */
async function sentToGemini(send: (baseUrl: string) => Promise<unknown>): Promise<ModelTool[]> {
  let body = "";
  const server = createServer((request, response) => {
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(
        '{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{}}',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const { tools } = JSON.parse(body) as {
    tools: { functionDeclarations: (ModelTool & { parametersJsonSchema?: Schema })[] }[];
  };
  return tools.flatMap(({ functionDeclarations }) =>
    functionDeclarations.map(({ parametersJsonSchema: json, ...one }) => (json ? { ...one, parameters: json } : one)),
  );
}
