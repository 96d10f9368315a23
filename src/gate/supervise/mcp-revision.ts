import type { IncomingHttpHeaders } from "node:http";
import { isRecord, ownField, RPC_CODES, RpcError, type RpcRequest } from "./json-rpc.ts";

/** Revisions that begin with `initialize`, the newest first. */
export const HANDSHAKE_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** Revisions in which every request says all that it needs. */
export const STATELESS_REVISIONS = ["2026-07-28"] as const;

const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
} as const;
export const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

export type Manner = "handshake" | "stateless";

/** In which manner a request is to be answered: by what is in it, which its headers must not contradict. Throws `RpcError`. */
export function mannerOf(request: RpcRequest, headers: IncomingHttpHeaders): Manner {
  const header = textHeader(headers, "mcp-protocol-version");
  const meta = ownField(request.params, "_meta");
  const claimed = isRecord(meta) ? ownField(meta, META.version) : undefined;
  if (claimed === undefined) return handshakeManner(header);
  if (typeof claimed !== "string" || !isRecord(meta) || !isRecord(ownField(meta, META.capabilities)))
    throw new RpcError(RPC_CODES.invalidParams, `_meta has to have ${META.version} and ${META.capabilities}`, {
      status: 400,
    });
  if (!isOneOf(STATELESS_REVISIONS, claimed)) throw unsupported(claimed, STATELESS_REVISIONS);
  requireSame("MCP-Protocol-Version", header, claimed);
  requireSame("Mcp-Method", textHeader(headers, "mcp-method"), request.method);
  const name = ownField(request.params, "name");
  if (request.method === "tools/call" && typeof name === "string")
    requireSame("Mcp-Name", decoded(textHeader(headers, "mcp-name")), name);
  return "stateless";
}

function handshakeManner(header: string | undefined): Manner {
  if (header === undefined || isOneOf(HANDSHAKE_REVISIONS, header)) return "handshake";
  if (!isOneOf(STATELESS_REVISIONS, header))
    throw unsupported(header, [...STATELESS_REVISIONS, ...HANDSHAKE_REVISIONS]);
  throw new RpcError(RPC_CODES.invalidParams, `In revision ${header} each request has a _meta with ${META.version}`, {
    status: 400,
  });
}

/** The revision that a handshake ends with: what the client wants, else the newest. */
export const agreedRevision = (wanted: unknown): string =>
  typeof wanted === "string" && isOneOf(HANDSHAKE_REVISIONS, wanted) ? wanted : HANDSHAKE_REVISIONS[0];

const isOneOf = (list: readonly string[], text: string): boolean => list.includes(text);

function requireSame(name: string, header: string | undefined, body: string): void {
  if (header === body) return;
  const why = header === undefined ? "is missing" : "says something else than the body";
  throw new RpcError(RPC_CODES.headerMismatch, `The header ${name} ${why}`, { status: 400 });
}

const unsupported = (requested: string, supported: readonly string[]): RpcError =>
  new RpcError(RPC_CODES.unsupportedVersion, "This revision of the protocol is not spoken here", {
    status: 400,
    data: { requested: requested.slice(0, 64), supported: [...supported] },
  });

function textHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value.trim() : undefined;
}

/** A name that a header cannot carry as it is comes in Base64. */
function decoded(header: string | undefined): string | undefined {
  const [, packed] = /^=\?base64\?([A-Za-z0-9+/]*=*)\?=$/.exec(header ?? "") ?? [];
  return packed === undefined ? header : Buffer.from(packed, "base64").toString("utf8");
}
