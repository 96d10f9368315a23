import { RE2JS } from "re2js";
import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import type { PathRule, RouteMatch } from "../../model/egress.ts";
import { coversHost } from "./host-match.ts";
import type { RequestTarget } from "./request-target.ts";

/** What of a route decides whether a request may pass. */
export interface RouteRules {
  /** As `canonicalHostPattern` gives it, or `*`. */
  readonly host: string;
  readonly ports?: readonly number[] | undefined;
  readonly matches?: readonly RouteMatch[] | null | undefined;
}

export interface RequestFacts {
  readonly method: string;
  readonly target: RequestTarget;
  /** By its lower-case name; undefined when the request has none. */
  readonly header: (name: string) => string | undefined;
}

/** Why a route does not let a request pass; undefined when it does. */
export type Refusal = string | undefined;

export interface CompiledRoute<Rules extends RouteRules> {
  readonly route: Rules;
  readonly refusal: (request: RequestFacts) => Refusal;
}

/** Routes in their order: the first that covers host and port decides. */
export class RouteTable<Rules extends RouteRules> {
  readonly routes: readonly CompiledRoute<Rules>[];

  /** Throws when a pattern does not compile. */
  constructor(routes: readonly Rules[]) {
    this.routes = routes.map((route) => ({ route, refusal: compileMatches(route.matches) }));
  }

  /** The route for a host, as `canonicalHost` gives it, and a port. */
  find(host: string, port: number): CompiledRoute<Rules> | undefined {
    return this.routes.find(
      ({ route }) => coversHost(route.host, host) && (route.ports ?? DEFAULT_PORTS).includes(port),
    );
  }

  /** Whether a host is in the list, for whatever port. */
  names(host: string): boolean {
    return this.routes.some(({ route }) => coversHost(route.host, host));
  }
}

type Test = (request: RequestFacts) => boolean;

/** Headers by which frameworks take another path, or another method, than the one that was sent. */
const OTHER_PATH = ["x-original-url", "x-rewrite-url"];
const OTHER_METHOD = ["x-http-method-override", "x-http-method", "x-method-override"];

function compileMatches(matches: readonly RouteMatch[] | null | undefined): (request: RequestFacts) => Refusal {
  if (!matches) return () => undefined;
  const entries = matches.map(compileMatch);
  const readsPaths = matches.some(({ paths }) => paths !== undefined);
  const changing = [
    ...(readsPaths ? OTHER_PATH : []),
    ...(matches.some(({ methods }) => methods !== undefined) ? OTHER_METHOD : []),
  ];
  return (request) => {
    // SECURITY: some servers answer for what such a header says, and not for what was asked by method and path (G-148)
    const other = changing.find((name) => request.header(name) !== undefined);
    if (other !== undefined)
      return `its header ${other} asks for something else than its method and path, for which the route has rules`;
    // SECURITY: one server sees a slash in it and another does not, so no rule about paths can be sure of it (G-37)
    if (readsPaths && request.target.hasEncodedSlash)
      return "its path has an encoded slash, and the route has rules for paths";
    return entries.some((entry) => entry.every((test) => test(request)))
      ? undefined
      : "no entry of the route's matches covers it";
  };
}

function compileMatch({ paths, methods, headers }: RouteMatch): readonly Test[] {
  const tests: Test[] = [];
  if (methods) tests.push(({ method }) => methods.includes(method));
  if (paths) {
    const any = paths.map(compilePath);
    tests.push(({ target }) => any.some((fits) => fits(target.path)));
  }
  for (const { name, value, type = "exact" } of headers ?? []) {
    const fits = type === "prefix" ? (given: string) => given.startsWith(value) : compileText(type, value);
    tests.push(({ header }) => {
      const given = header(name.toLowerCase());
      return given !== undefined && fits(given);
    });
  }
  return tests;
}

function compilePath({ type, value }: PathRule): (path: string) => boolean {
  if (type !== "prefix") return compileText(type, value);
  if (value.endsWith("/")) return (path) => path.startsWith(value);
  // `/v1` is a folder: it covers `/v1/x`, and not `/v1beta`.
  return (path) => path === value || path.startsWith(`${value}/`);
}

/** A pattern has to fit the whole text. Its engine takes time in proportion to the text, whatever the pattern is. */
function compileText(type: "exact" | "regex", value: string): (text: string) => boolean {
  if (type === "exact") return (text) => text === value;
  const pattern = RE2JS.compile(value);
  return (text) => pattern.matches(text);
}
