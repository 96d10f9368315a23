import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import type { OnMatch, Route } from "../../model/egress.ts";
import type { ProposedRoute } from "../../model/proposal.ts";
import { coversHost } from "../egress/host-match.ts";
import { RouteTable } from "../egress/route-table.ts";
import { canonicalJson } from "./content-hash.ts";

/**
 * Routes with those that were proposed. A route for a host that has one adds its ports and its matches and keeps the rest: where it leads, whom it trusts, which
 * credential goes along. One that a wider route covers begins with what that has, and stands before it, because the first that covers a host decides.
 */
export function mergeRoutes(
  routes: readonly Route[],
  proposed: readonly ProposedRoute[],
  /** What happens to a finding on a route that is new. */
  onMatch: OnMatch | undefined,
): Route[] {
  let merged = [...routes];
  for (const asked of proposed) {
    const at = merged.findIndex(({ host }) => host === asked.host);
    const wider = merged.findIndex(({ host }) => host !== asked.host && coversPattern(host, asked.host));
    const base = merged[at] ?? merged[wider];
    const route = base ? widened({ ...base, host: asked.host }, asked) : fresh(asked, onMatch);
    const others = merged.filter((_, index) => index !== at);
    const place = others.findIndex(({ host }) => coversPattern(host, asked.host));
    const isBehind = at < 0 || (place >= 0 && place < at);
    const index = isBehind ? (place < 0 ? others.length : place) : at;
    merged = [...others.slice(0, index), route, ...others.slice(index)];
  }
  return merged;
}

const fresh = ({ host, ports, matches }: ProposedRoute, onMatch: OnMatch | undefined): Route => ({
  host,
  ...(ports && { ports }),
  ...(matches && { matches }),
  ...(onMatch && { dlp: { outbound_on_match: onMatch } }),
});

function widened(route: Route, { ports, matches }: ProposedRoute): Route {
  const wider = { ...route };
  const all = [...new Set([...(route.ports ?? DEFAULT_PORTS), ...(ports ?? DEFAULT_PORTS)])];
  if (route.ports ?? ports) wider.ports = all;
  // A route without matches lets everything pass, and a tunnel has none.
  if (!route.matches || !matches) delete wider.matches;
  else wider.matches = unique([...route.matches, ...matches]);
  return wider;
}

const unique = <Value>(values: readonly Value[]): Value[] => [
  ...new Map(values.map((value) => [canonicalJson(value), value])).values(),
];

/** Whether a route's host covers all that another pattern covers. */
export const coversPattern = (pattern: string, other: string): boolean =>
  pattern === other || coversHost(pattern, other.replace(/^\*\./, "any."));

/** Those that a proposal is about: what decides for its hosts now. */
export const routesFor = (routes: readonly Route[], proposed: readonly ProposedRoute[]): Route[] =>
  routes.filter(({ host }) =>
    proposed.some((asked) => coversPattern(host, asked.host) || coversPattern(asked.host, host)),
  );

/** A proposed host that another route decides for, so that what was approved would never be used; undefined when there is none. */
export function shadowed(
  routes: readonly Route[],
  proposed: readonly ProposedRoute[],
): { host: string; by: string } | undefined {
  const table = new RouteTable(routes);
  for (const { host, ports = DEFAULT_PORTS } of proposed)
    for (const port of ports) {
      const found = table.find(host.replace(/^\*\./, "any."), port)?.route.host;
      if (found !== undefined && found !== host) return { host, by: found };
    }
  return undefined;
}
