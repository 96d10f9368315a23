import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import type { Route } from "../../model/egress.ts";
import type { ProposedRoute } from "../../model/proposal.ts";
import { canonicalJson } from "./content-hash.ts";
import { coversPattern } from "./merge-routes.ts";

/** Whether routes let out all that is asked for already, so that an approval adds nothing. In doubt they do not. */
export const areReached = (asked: readonly ProposedRoute[], routes: readonly Route[]): boolean =>
  asked.every((one) => isReached(one, routes));

function isReached({ host, ports, matches }: ProposedRoute, routes: readonly Route[]): boolean {
  // Of the hosts below a star, one may have a route of its own, which lets out less.
  if (routes.some((route) => route.host !== host && coversPattern(host, route.host))) return false;
  const known = routes.find((route) => route.host === host) ?? routes.find((route) => coversPattern(route.host, host));
  if (!known) return false;
  // SECURITY: the route that decides at each port is the one of the sentence, with what goes along there (G-180)
  const decides = (port: number) =>
    routes.find((route) => coversPattern(route.host, host) && (route.ports ?? DEFAULT_PORTS).includes(port)) === known;
  if (!(ports ?? DEFAULT_PORTS).every(decides)) return false;
  if (!known.matches) return true;
  const there = new Set(known.matches.map(canonicalJson));
  return matches?.every((match) => there.has(canonicalJson(match))) ?? false;
}
