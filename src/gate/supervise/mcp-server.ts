import type { IncomingHttpHeaders } from "node:http";
import { packageVersion } from "../../base/version.ts";
import { agentTools } from "./agent-tools.ts";
import { type AgentDesk, type AgentToolName, callAgentTool } from "./call-agent-tool.ts";
import { isRecord, ownField, type Params, RPC_CODES, RpcError, type RpcRequest } from "./json-rpc.ts";
import { agreedRevision, type Manner, mannerOf, SERVER_INFO, STATELESS_REVISIONS } from "./mcp-revision.ts";

const INSTRUCTIONS =
  "You work in a sandbox, and an operator outside decides what it may reach. When a request is refused with EGRESS_DENIED, or something you need is missing, do not look for a way around: ask here and say why. The answer is in the result.";

/** Its tools stay the same as long as a sandbox does. */
const KEPT_MS = 300_000;

/** What a request is answered from. */
export interface ServedTools {
  readonly desk: AgentDesk;
  /** Of the sandbox that asks. */
  readonly canChangeEnvironment: boolean;
  readonly waitMs?: number | undefined;
}

/** Read when the program is loaded: a moment later the gate is a user who can open no file. */
const SERVER = { name: "cloche-supervise", title: "cloche supervise", version: packageVersion() };
const CAPABILITIES = { tools: {} };

/**
 * The result of one request. In both manners each request stands for itself: there are no sessions, so nobody can open too many, and a gate that was started again
 * knows as much as the one before. Throws `RpcError`.
 */
export async function answerRequest(
  served: ServedTools,
  request: RpcRequest,
  headers: IncomingHttpHeaders,
  gone: AbortSignal,
): Promise<object> {
  const manner = mannerOf(request, headers);
  const result = await resultOf(served, request, manner, gone);
  if (manner === "handshake") return result;
  return { resultType: "complete", ...result, _meta: { [SERVER_INFO]: SERVER } };
}

async function resultOf(
  served: ServedTools,
  { method, params }: RpcRequest,
  manner: Manner,
  gone: AbortSignal,
): Promise<object> {
  const cached = manner === "stateless" && { ttlMs: KEPT_MS, cacheScope: "private" };
  switch (method) {
    case "tools/list":
      return { ...cached, tools: agentTools(served.canChangeEnvironment) };
    case "tools/call":
      return await callTool(served, params, gone);
    case "server/discover":
      if (manner === "handshake") break;
      return {
        ...cached,
        supportedVersions: [...STATELESS_REVISIONS],
        capabilities: CAPABILITIES,
        instructions: INSTRUCTIONS,
      };
    case "initialize":
      if (manner === "stateless") break;
      return {
        protocolVersion: agreedRevision(ownField(params, "protocolVersion")),
        capabilities: CAPABILITIES,
        serverInfo: SERVER,
        instructions: INSTRUCTIONS,
      };
    case "ping":
      if (manner === "stateless") break;
      return {};
  }
  throw new RpcError(RPC_CODES.methodNotFound, `There is no method "${method}"`, {
    status: manner === "stateless" ? 404 : 200,
  });
}

async function callTool(
  { desk, canChangeEnvironment, waitMs }: ServedTools,
  params: Params,
  gone: AbortSignal,
): Promise<object> {
  const names = agentTools(canChangeEnvironment).map(({ name }) => name);
  const name = ownField(params, "name");
  if (typeof name !== "string" || !names.includes(name))
    throw new RpcError(RPC_CODES.invalidParams, `There is no such tool. Use one of ${names.join(", ")}`);
  const given = ownField(params, "arguments") ?? {};
  if (!isRecord(given)) throw new RpcError(RPC_CODES.invalidParams, "The arguments are no object");
  return await callAgentTool(desk, name as AgentToolName, given, gone, waitMs);
}
