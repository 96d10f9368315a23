import { IncomingMessage, METHODS, type ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { canonicalHost } from "../../model/host-name.ts";
import { type Place, SCHEME_PORTS } from "../../policy/egress/absolute-url.ts";
import {
  type AmbiguousTarget,
  type RequestTarget,
  isAmbiguous,
  readTarget,
} from "../../policy/egress/request-target.ts";
import { type HeaderList, headerValue, headerValues } from "./header-list.ts";

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS.filter((method) => /^[A-Z]+$/.test(method)));

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
  const isHttp2 = !(request instanceof IncomingMessage);
  const method = request.method ?? "";
  const headers = request.rawHeaders;
  const unreadable = (problem: string): Unreadable => ({ problem, host: place.host, path: sent.split("?")[0] ?? null });
  if (place.host === "") return unreadable("it is for no name of a host, with a whole URL; an address is none");
  if (method === "TRACE" || method === "CONNECT")
    return unreadable(`the method ${method} is not for a server behind the gate`);
  // SECURITY: a word of the sandbox's own in its place would leave unseen (G-50)
  if (!KNOWN_METHODS.has(method)) return unreadable("its method is none that there is");
  // What says `HTTP/2.0` and is text would be read by the rules of one and carried by those of the other.
  if (!isHttp2 && !["1.0", "1.1"].includes(request.httpVersion)) return unreadable("its version is none that there is");
  const hosts = headerValues(headers, "host");
  if (hosts.length > 1) return unreadable("it has several Host headers");
  const named = [...headerValues(headers, ":authority"), ...hosts];
  if (named.length === 0 && !isOld(request)) return unreadable("it names no host");
  if (!named.every((authority) => isAt(place, authority)))
    return unreadable("its Host is another one than the one it was sent to");
  const framing = framingProblem(headers, request.httpVersion);
  if (framing !== undefined) return unreadable(framing);
  const target: RequestTarget | AmbiguousTarget = readTarget(sent);
  if (isAmbiguous(target)) return unreadable(`its path can be read in several ways: ${target.ambiguous}`);
  if (target.path === "*" && method !== "OPTIONS")
    return unreadable("its target is a star, which is for OPTIONS alone");
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
function framingProblem(headers: HeaderList, version: string): string | undefined {
  const codings = headerValues(headers, "transfer-encoding");
  if (version !== "1.1" && codings.length > 0) return `it has a transfer encoding, which HTTP/${version} has not`;
  if (codings.length > 1 || (codings.length === 1 && codings[0]?.toLowerCase() !== "chunked"))
    return "its transfer encoding is not plain `chunked`";
  const lengths = headerValues(headers, "content-length");
  if (lengths.length > 1 || (lengths.length === 1 && !/^(?:0|[1-9]\d{0,14})$/.test(lengths[0] ?? "")))
    return "its length is not one number";
  if (lengths.length > 0 && codings.length > 0) return "it has a length and a transfer encoding";
  return undefined;
}

/** Where a CONNECT leads to; undefined for no `host:port`. */
export function readAuthority(text: string): { host: string; port: number } | undefined {
  const parts = /^([^:@/\s]+):(\d{1,5})$/.exec(text);
  const host = canonicalHost(parts?.[1] ?? "");
  const port = Number(parts?.[2]);
  return host !== undefined && port > 0 && port < 65_536 ? { host, port } : undefined;
}

const PROXY_ITSELF = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/**
 * Why a CONNECT to that place is not taken; undefined when it is. Its `Host` may leave the port out, or name the proxy itself, as some clients have it.
 *
 * SECURITY: one that names another host beside its own, or that brings a body, has a second reading (G-38)
 */
export function connectProblem(to: { host: string; port: number }, headers: HeaderList): string | undefined {
  const named = headerValues(headers, "host");
  const isIts = (text: string) => {
    if (PROXY_ITSELF.test(text)) return true;
    const own = readAuthority(text) ?? { host: canonicalHost(text), port: to.port };
    return own.host === to.host && own.port === to.port;
  };
  if (named.length > 1 || !named.every(isIts)) return "its Host is another one than the one it connects to";
  return hasBody(headers) ? "a CONNECT has no body" : undefined;
}

/** As HTTP/1.1 says it. */
export function hasBody(headers: HeaderList): boolean {
  const length = headerValue(headers, "content-length");
  return headerValue(headers, "transfer-encoding") !== undefined || (length !== undefined && !/^0+$/.test(length));
}
