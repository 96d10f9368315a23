import { McpServer, ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { packageVersion } from "../base/version.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import { MODES, type ToolName } from "./profiles.ts";
import { reachSentences, reachWords } from "./scope/reach-words.ts";
import type { ServerParts } from "./server-options.ts";

/** Tells the protocol library apart from its validator: no answer of a client is ever checked against a schema here, so none is built. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: true as const, data: undefined as never, errorMessage: undefined }),
};

const INSTRUCTIONS =
  "cloche gives disposable, isolated workspaces. Create one, work in it with its id, export what is good, delete it. Nothing runs on the host.";

/**
 * One server for one client. Tools, resources and prompts are loaded when they are first asked for, so that the handshake does not wait for them.
 */
export function buildServer(parts: ServerParts, calls: CallsUnderWay): McpServer {
  const { selection, source, defaults, access, client: cloche } = parts;
  const purpose = selection.mode === undefined ? "" : ` This server is for one job: ${MODES[selection.mode].purpose}`;
  const mcp = new McpServer(
    { name: "cloche", title: "cloche workspaces", version: packageVersion() },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions: `${INSTRUCTIONS}${purpose} ${reachWords(access)}`,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  const { server } = mcp;

  server.setRequestHandler("tools/list", async () => {
    const { describeTools } = await import("./describe-tools.ts");
    return { tools: describeTools(selection, { workspace_create: source.sentence, ...reachSentences(access) }) };
  });
  server.setRequestHandler("tools/call", ({ params }, context) =>
    calls.track(async () => {
      const name = selection.tools.find((one) => one === params.name);
      if (name === undefined) throw unknownTool(params.name, selection.tools);
      const [{ TOOLS }, { callTool }] = await Promise.all([import("./tool-registry.ts"), import("./call-tool.ts")]);
      const { signal } = context.mcpReq;
      return await callTool(TOOLS[name], params.arguments, selection.full, {
        cloche,
        defaults,
        signal,
        report: reporter(context),
      });
    }),
  );
  server.setRequestHandler("resources/templates/list", async () => {
    const { RESOURCE_TEMPLATES } = await import("./resources.ts");
    return { resourceTemplates: RESOURCE_TEMPLATES };
  });
  server.setRequestHandler("resources/list", async (_, { mcpReq: { signal } }) => {
    const { listResources } = await import("./resources.ts");
    return await listResources(cloche, signal);
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const { readResource } = await import("./resources.ts");
    return await readResource(cloche, uri, signal);
  });
  server.setRequestHandler("prompts/list", async () => {
    const { listPrompts } = await import("./serve-prompts.ts");
    return { prompts: listPrompts() };
  });
  server.setRequestHandler("prompts/get", async ({ params }) => {
    const { getPrompt } = await import("./serve-prompts.ts");
    return getPrompt(params.name, params.arguments ?? {});
  });
  server.setRequestHandler("completion/complete", async ({ params }, { mcpReq: { signal } }) => {
    const { completeArgument } = await import("./complete-argument.ts");
    return { completion: await completeArgument(cloche, params.argument, signal) };
  });
  return mcp;
}

function unknownTool(name: string, tools: readonly ToolName[]): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool "${name.slice(0, 100)}". Use one of ${tools.join(", ")}`,
  );
}

/** Progress for a client that asked for it; it may stop listening at any time. */
function reporter({ mcpReq }: ServerContext): ((message: string) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    if (mcpReq.signal.aborted) return;
    const params = { progressToken, progress: ++progress, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
