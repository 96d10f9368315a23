import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import { canonicalHost } from "../../model/host-name.ts";
import type { Egress, PathRule, Route, RouteMatch } from "../../model/egress.ts";
import type { SeenHost } from "../../model/egress-seen.ts";
import { canonicalJson } from "../supervise/content-hash.ts";
import { RouteTable } from "./route-table.ts";

/** One request that a gate told of. */
export interface SeenRequest {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** No route let it pass. */
  readonly isDenied: boolean;
}

export interface LearnedRoutes {
  readonly hosts: SeenHost[];
  readonly routes: Route[];
  readonly denied: Route[];
}

/** More different names in one folder, and the folder is what is meant. */
const MANY_CHILDREN = 4;
/** As many as a route may list. */
const MAX_PATHS = 64;

/**
 * The smallest list of routes that covers what was seen: exact hosts, their methods, and their paths, of which many in one folder become the folder. What a route of the
 * present policy has beside its rules, such as a credential, goes along.
 */
export function learnRoutes(seen: readonly SeenRequest[], present: Egress): LearnedRoutes {
  const table = new RouteTable(present.routes ?? []);
  // An address is told without a host, and a name that was asked for may be any word: a policy takes neither.
  const byHost = groupBy(
    seen.filter(({ host }) => canonicalHost(host) !== undefined),
    ({ host }) => host,
  );
  const cover = (isDenied: boolean): Route[] =>
    [...byHost].flatMap(([host, requests]) => {
      const those = requests.filter((one) => one.isDenied === isDenied);
      if (those.length === 0) return [];
      // Whoever asks what a name resolves to asks for no port.
      const such = those.filter(({ port }) => port > 0);
      if (such.length === 0) return requests.some((one) => !one.isDenied) ? [] : [{ host }];
      const ports = [...new Set(such.map(({ port }) => port))];
      return [routeFor(host, such, commonOf(ports.map((port) => table.find(host, port)?.route)))];
    });
  const hosts = [...byHost].map(([host, requests]) => ({
    host,
    requests: requests.length,
    denied: requests.filter(({ isDenied }) => isDenied).length,
    methods: [...new Set(requests.map(({ method }) => method))].sort(),
  }));
  return { hosts, routes: cover(false), denied: cover(true) };
}

function routeFor(host: string, requests: readonly SeenRequest[], present: Route | undefined): Route {
  const ports = [...new Set(requests.map(({ port }) => port))].sort((one, other) => one - other);
  const rules = requests.some(({ method }) => method === "CONNECT") ? undefined : matchesFor(requests);
  // A route that names its ports was meant for no other.
  const isOfDefaults = present?.ports === undefined && ports.every((port) => DEFAULT_PORTS.includes(port));
  return {
    host,
    ...(!isOfDefaults && { ports }),
    ...keptOf(present),
    ...(rules && { matches: rules }),
  };
}

/** What all routes have that decided for a host: what one of them gives a port, as a credential or a tunnel, is not for the others. */
function commonOf(routes: readonly (Route | undefined)[]): Route | undefined {
  const [first, ...others] = routes;
  if (!first || others.every((one) => one === first)) return first;
  const isCommon = ([key, value]: [string, unknown]) =>
    others.every((one) => one !== undefined && canonicalJson(one[key as keyof Route] ?? null) === canonicalJson(value));
  return Object.fromEntries(Object.entries(first).filter(isCommon)) as unknown as Route;
}

/** All but what says which requests are meant. */
function keptOf({ connect, ca, tls, secrets, auth, dlp }: Partial<Route> = {}): Partial<Route> {
  const kept = Object.entries({ connect, ca, tls, secrets, auth, dlp }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept);
}

/** Entries of the same methods are one. */
function matchesFor(requests: readonly SeenRequest[]): RouteMatch[] {
  const methods = methodsOf(requests);
  // A rule for paths refuses an encoded slash.
  if (requests.some(({ path }) => /%2f/i.test(path))) return [{ methods }];
  const paths = pathsFor(requests);
  if (paths.length > MAX_PATHS || paths.some(({ rule }) => rule.value === "/" && rule.type === "prefix"))
    return [{ methods }];
  const byMethods = groupBy(paths, (one) => one.methods.join(" "));
  return [...byMethods.values()].map((group) => ({
    methods: group[0]?.methods ?? methods,
    paths: group.map(({ rule }) => rule),
  }));
}

interface CoveredPath {
  readonly rule: PathRule;
  readonly methods: string[];
}

interface Folder {
  readonly requests: SeenRequest[];
  readonly children: Map<string, Folder>;
}

function pathsFor(requests: readonly SeenRequest[]): CoveredPath[] {
  const root: Folder = { requests: [], children: new Map() };
  for (const request of requests) {
    let at = root;
    at.requests.push(request);
    for (const name of request.path.split("/").slice(1)) {
      const child = at.children.get(name) ?? { requests: [], children: new Map<string, Folder>() };
      at.children.set(name, child);
      child.requests.push(request);
      at = child;
    }
  }
  return covered(root, "");
}

function covered(folder: Folder, path: string): CoveredPath[] {
  const methods = methodsOf(folder.requests);
  const names = [...folder.children.keys()];
  if (names.length === 0) return [{ rule: { type: "exact", value: path === "" ? "/" : path }, methods }];
  if (names.length > MANY_CHILDREN || names.some(isOneOfMany))
    return [{ rule: { type: "prefix", value: path === "" ? "/" : path }, methods }];
  const below = [...folder.children].flatMap(([name, child]) => covered(child, `${path}/${name}`));
  const own = folder.requests.filter((one) => one.path === path);
  return own.length === 0 || path === ""
    ? below
    : [{ rule: { type: "exact", value: path }, methods: methodsOf(own) }, ...below];
}

/** A number, a digest, an identifier, or what was overwritten or cut: the next request will have another one. */
const isOneOfMany = (name: string): boolean =>
  /^\d+$/.test(name) ||
  /\*{3}|…$/.test(name) ||
  /^[0-9a-f-]{16,}$/i.test(name) ||
  (name.length >= 20 && /\d/.test(name));

const methodsOf = (requests: readonly SeenRequest[]): string[] =>
  [...new Set(requests.map(({ method }) => method))].sort();

function groupBy<One>(list: readonly One[], keyOf: (one: One) => string): Map<string, One[]> {
  const groups = new Map<string, One[]>();
  for (const one of list) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}
