/** The codes of JSON-RPC, and those that MCP adds. */
export const RPC_CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** What there is no code for. */
  refused: -32_000,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

export type RpcId = string | number;

/** An error of the protocol. A tool that cannot do its work is none: that is a result. */
export class RpcError extends Error {
  readonly code: number;
  /** The status of an answer over HTTP, where it is told by that too. */
  readonly status: number;
  readonly data: unknown;

  constructor(code: number, message: string, { status = 200, data }: { status?: number; data?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export interface RpcRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: Params;
}

/** What a client tells, and wants no answer to. */
export interface RpcNotice {
  readonly kind: "notice";
}

export type RpcMessage = RpcRequest | RpcNotice;
export type Params = Readonly<Record<string, unknown>>;

const MAX_ID = 256;
const MAX_METHOD = 128;

export const isRecord = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A field that the value itself has: never one of every object's. */
export const ownField = (value: Params, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** One message, of whoever is in the sandbox. Throws `RpcError`. */
export function readMessage(value: unknown): RpcMessage {
  if (Array.isArray(value)) throw invalid("one message at a time is taken, and no list of them");
  if (!isRecord(value) || ownField(value, "jsonrpc") !== "2.0") throw invalid('it is no message of JSON-RPC "2.0"');
  const method = ownField(value, "method");
  const id = ownField(value, "id");
  // An answer to what was never asked here.
  if (method === undefined && (Object.hasOwn(value, "result") || Object.hasOwn(value, "error")))
    return { kind: "notice" };
  if (typeof method !== "string" || method.length > MAX_METHOD) throw invalid("its method is no short text");
  const params = ownField(value, "params") ?? {};
  if (!isRecord(params)) throw invalid("its params are no object");
  if (id === undefined) return { kind: "notice" };
  if (!isId(id)) throw invalid("its id is neither a number nor a short text");
  return { kind: "request", id, method, params };
}

/** The id of a message that could not be read, as far as it has one. */
export function idOf(value: unknown): RpcId | null {
  const id = isRecord(value) ? ownField(value, "id") : undefined;
  return isId(id) ? id : null;
}

const isId = (id: unknown): id is RpcId =>
  (typeof id === "number" && Number.isFinite(id)) || (typeof id === "string" && id.length <= MAX_ID);

const invalid = (why: string): RpcError =>
  new RpcError(RPC_CODES.invalidRequest, `The body cannot be used: ${why}`, { status: 400 });
