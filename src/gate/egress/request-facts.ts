import { type IncomingMessage, METHODS, type ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { canonicalHost } from "../../model/host-name.ts";
import { type Place, SCHEME_PORTS } from "../../policy/egress/absolute-url.ts";
import {
  type AmbiguousTarget,
  type RequestTarget,
  isAmbiguous,
  readTarget,
} from "../../policy/egress/request-target.ts";
import { type HeaderList, headerValues } from "./header-list.ts";

export type { Place } from "../../policy/egress/absolute-url.ts";

/** Of HTTP/1.1 or HTTP/2. */
export type ClientRequest = IncomingMessage | Http2ServerRequest;
export type ClientResponse = ServerResponse | Http2ServerResponse;

/** A request that can be read in one way only. */
export interface ReadRequest {
  readonly place: Place;
  readonly method: string;
  readonly target: RequestTarget;
  readonly headers: HeaderList;
  readonly isHttp2: boolean;
}

export interface Unreadable {
  readonly problem: string;
  /** As far as it could be read. */
  readonly host: string | null;
  readonly path: string | null;
}

/**
 * SECURITY: the host that was connected to, the name in the handshake and the one in the request are one: a rule for one host never lets a request for another
 * one pass (G-38)
 */
export function readRequest(place: Place, request: ClientRequest, sent: string): ReadRequest | Unreadable {
  const isHttp2 = request.httpVersionMajor === 2;
  const method = request.method ?? "";
  const headers = request.rawHeaders;
  const unreadable = (problem: string): Unreadable => ({ problem, host: place.host, path: sent.split("?")[0] ?? null });
  if (method === "TRACE" || method === "CONNECT")
    return unreadable(`the method ${method} is not for a server behind the gate`);
  // SECURITY: a word of the sandbox's own in its place would leave unseen (G-50)
  if (!METHODS.includes(method) || !/^[A-Z]+$/.test(method)) return unreadable("its method is none that there is");
  const named = [...headerValues(headers, ":authority"), ...headerValues(headers, "host")];
  if (headerValues(headers, "host").length > 1) return unreadable("it has several Host headers");
  if (named.length === 0 && !isOld(request)) return unreadable("it names no host");
  if (!named.every((authority) => isAt(place, authority)))
    return unreadable("its Host is another one than the one it was sent to");
  const framing = framingProblem(headers, isHttp2);
  if (framing !== undefined) return unreadable(framing);
  const target: RequestTarget | AmbiguousTarget = readTarget(sent);
  if (isAmbiguous(target)) return unreadable(`its path can be read in several ways: ${target.ambiguous}`);
  return { place, method, target, headers, isHttp2 };
}

export const isUnreadable = (request: ReadRequest | Unreadable): request is Unreadable => "problem" in request;

const isOld = (request: ClientRequest): boolean => request.httpVersionMajor === 1 && request.httpVersionMinor === 0;

/** Whether `host[:port]` is a place. */
function isAt({ scheme, host, port }: Place, authority: string): boolean {
  // As nearly every client says it; what is written in another way is read with care.
  if (authority === host) return port === SCHEME_PORTS[scheme];
  const parts = /^([^:@/\s]+)(?::(\d{1,5}))?$/.exec(authority);
  if (!parts) return false;
  return canonicalHost(parts[1] ?? "") === host && Number(parts[2] ?? SCHEME_PORTS[scheme]) === port;
}

/** The parser refuses what contradicts itself; this is what it leaves to us. */
function framingProblem(headers: HeaderList, isHttp2: boolean): string | undefined {
  const codings = headerValues(headers, "transfer-encoding");
  if (isHttp2 && codings.length > 0) return "it has a transfer encoding, which HTTP/2 has not";
  if (codings.length > 1 || (codings.length === 1 && codings[0]?.toLowerCase() !== "chunked"))
    return "its transfer encoding is not plain `chunked`";
  const lengths = headerValues(headers, "content-length");
  if (lengths.length > 1 || (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0] ?? "")))
    return "its length is not one number";
  if (lengths.length > 0 && codings.length > 0) return "it has a length and a transfer encoding";
  return undefined;
}

/** `host:port` of a CONNECT. */
export function readAuthority(text: string): { host: string; port: number } | undefined {
  const parts = /^([^:@/\s]+):(\d{1,5})$/.exec(text);
  const host = canonicalHost(parts?.[1] ?? "");
  const port = Number(parts?.[2]);
  return host !== undefined && port > 0 && port < 65_536 ? { host, port } : undefined;
}
