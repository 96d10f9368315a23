import { canonicalHostPattern } from "../../model/host-name.ts";
import { RouteTable } from "../egress/route-table.ts";
import { areTooLarge } from "./pattern-size.ts";
import { BadArguments, readList, readObject, readText } from "./read-arguments.ts";

const MOST_ROUTES = 16;
const MOST = 64;
const MAX_VALUE = 4096;

const HINT = 'A route has "host", and may have "ports" and "matches", as in {"host": "docs.example.com"}';
/** What the operator alone may give a route. */
const CLOSED = ["connect", "ca", "tls", "auth", "secrets", "dlp"];

const METHOD = /^[A-Z]{1,32}$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const TYPES = ["exact", "prefix", "regex"];

export interface AskedRoute {
  host: string;
  ports?: number[];
  matches?: object[];
}

/** The routes that an agent asks for, as the queue takes them. Throws `BadArguments`. */
export function readAskedRoutes(value: unknown): AskedRoute[] {
  const routes = readList(value, "routes", MOST_ROUTES, readRoute) ?? [];
  if (areTooLarge(routes))
    throw new BadArguments(
      '"routes" has patterns that repeat too much',
      "Use smaller numbers in braces, or type prefix or exact",
    );
  if (routes.length === 0) throw new BadArguments('"routes" names no route', HINT);
  const twice = routes.find(({ host }, index) => routes.findIndex((one) => one.host === host) !== index);
  if (twice) throw new BadArguments(`"${twice.host}" is there twice`, "Give one route for each host");
  routes.forEach((route, index) => requireCompiling(route, `routes.${index}`));
  return routes;
}

function readRoute(value: unknown, where: string): AskedRoute {
  refuseClosed(value, where);
  const route = readObject(value, where, ["host", "ports", "matches"], HINT);
  const given = readText(route["host"], `${where}.host`, 255);
  const host = canonicalHostPattern(given);
  if (host === undefined)
    throw new BadArguments(
      `"${where}.host" is no name of a host`,
      "Give a host by its name, without scheme, port and path; *.example.com is for all below it. Addresses and localhost are no hosts",
    );
  const ports = readList(route["ports"], `${where}.ports`, MOST, readPort);
  const matches = readList(route["matches"], `${where}.matches`, MOST, readMatch);
  return {
    host,
    ...(ports && ports.length > 0 && { ports }),
    ...(matches && matches.length > 0 && { matches }),
  };
}

/** SECURITY: an agent cannot ask for where a host is dialled, whom the gate trusts there, which credential goes along, or that nobody looks (G-105) */
function refuseClosed(value: unknown, where: string): void {
  const closed = CLOSED.find((key) => typeof value === "object" && value !== null && Object.hasOwn(value, key));
  if (closed === undefined) return;
  throw new BadArguments(
    `"${where}.${closed}" is for the operator alone`,
    `Leave "${closed}" out. The operator can add it to the bottle`,
  );
}

function readPort(value: unknown, where: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65_535) return value;
  throw new BadArguments(
    `"${where}" is no port`,
    "Give ports as numbers from 1 to 65535; without any they are 443 and 80",
  );
}

function readMatch(value: unknown, where: string): object {
  const hint = 'An entry of "matches" has "paths", "methods" or "headers"';
  const match = readObject(value, where, ["paths", "methods", "headers"], hint);
  const paths = readList(match["paths"], `${where}.paths`, MOST, readPath);
  const methods = readList(match["methods"], `${where}.methods`, MOST, readMethod);
  const headers = readList(match["headers"], `${where}.headers`, MOST, readHeader);
  const kept = {
    ...(paths && paths.length > 0 && { paths }),
    ...(methods && methods.length > 0 && { methods }),
    ...(headers && headers.length > 0 && { headers }),
  };
  // An empty entry would match every request, and would look like a narrow one.
  if (Object.keys(kept).length === 0) throw new BadArguments(`"${where}" is empty`, hint);
  return kept;
}

function readPath(value: unknown, where: string): object {
  const hint = 'A path is {"type": "exact", "prefix" or "regex", "value": "/v1"}';
  const path = readObject(value, where, ["type", "value"], hint);
  return { type: readType(path["type"], where, hint), value: readText(path["value"], `${where}.value`, MAX_VALUE) };
}

function readMethod(value: unknown, where: string): string {
  if (typeof value === "string" && METHOD.test(value)) return value;
  throw new BadArguments(`"${where}" is no method`, "Give methods in upper-case letters, as in GET");
}

function readHeader(value: unknown, where: string): object {
  const hint = 'A header is {"name": "accept", "value": "text/html", "type": "exact"}';
  const header = readObject(value, where, ["name", "value", "type"], hint);
  const name = readText(header["name"], `${where}.name`, 256);
  if (!HEADER.test(name)) throw new BadArguments(`"${where}.name" is no name of a header`, hint);
  const text = header["value"];
  if (typeof text !== "string" || text.length > MAX_VALUE) throw new BadArguments(`"${where}.value" is no text`, hint);
  const type = header["type"] == null ? undefined : readType(header["type"], where, hint);
  return { name, value: text, ...(type !== undefined && { type }) };
}

function readType(value: unknown, where: string, hint: string): string {
  if (typeof value === "string" && TYPES.includes(value)) return value;
  throw new BadArguments(`"${where}.type" is none of ${TYPES.join(", ")}`, hint);
}

function requireCompiling({ host, matches }: AskedRoute, where: string): void {
  try {
    new RouteTable([{ host, matches: matches ?? null }]);
  } catch {
    throw new BadArguments(
      `"${where}.matches" has a pattern that does not compile`,
      "Use the syntax of RE2, or type prefix or exact",
    );
  }
}
