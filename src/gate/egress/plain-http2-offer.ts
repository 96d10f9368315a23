import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type HeaderList, headerPairs, headerValue } from "./header-list.ts";

const OFFER: ReadonlySet<string> = new Set(["upgrade", "http2-settings"]);

/**
 * Has a server read a request without its offer to go on in HTTP/2, which a server may leave as it is: Java makes one with a plain request that it
 * sends to no proxy. False for a request without such an offer. The parser has taken it for the last one of its connection; it reads it once more, with all that comes behind it.
 */
export function ignoreHttp2Offer(server: Server, request: IncomingMessage, socket: Duplex, rest: Buffer): boolean {
  if (headerValue(request.rawHeaders, "upgrade")?.toLowerCase() !== "h2c") return false;
  const lines = withoutOffer(request.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  const first = `${request.method ?? ""} ${request.url ?? ""} HTTP/${request.httpVersion}\r\n`;
  socket.pause();
  socket.unshift(Buffer.concat([Buffer.from(`${first}${lines.join("")}\r\n`, "latin1"), rest]));
  server.emit("connection", socket);
  socket.resume();
  return true;
}

function withoutOffer(headers: HeaderList): [string, string][] {
  return headerPairs(headers).flatMap(([name, value]): [string, string][] => {
    if (OFFER.has(name.toLowerCase())) return [];
    if (name.toLowerCase() !== "connection") return [[name, value]];
    const kept = value.split(",").filter((one) => !OFFER.has(one.trim().toLowerCase()));
    return kept.length === 0 ? [] : [[name, kept.join(",")]];
  });
}
