import type { OnMatch, Route, RouteAuth } from "../../model/egress.ts";
import type { PlannedRoute } from "../../model/bottle-plan.ts";
import type { ProviderShape } from "../../model/egress-order.ts";
import { coversHost } from "../egress/host-match.ts";

export interface RouteSources {
  readonly ofProvider: readonly Route[];
  readonly ofBottle: readonly Route[];
  readonly errorShape: ProviderShape | null;
  /** What happens to a finding on a route that says nothing. */
  readonly onMatch: OnMatch;
}

/** The provider's first. What a bottle says about a host of the provider's is laid over it: another address to dial, another credential. */
export function planRoutes({ ofProvider, ofBottle, errorShape, onMatch }: RouteSources): PlannedRoute[] {
  const written = new Map(ofBottle.map((route) => [route.host, route]));
  const provided = new Set(ofProvider.map(({ host }) => host));
  return [
    ...ofProvider.map((route) => plannedRoute({ ...route, ...written.get(route.host) }, "redact", errorShape, true)),
    ...ofBottle.flatMap((route) => (provided.has(route.host) ? [] : [plannedRoute(route, onMatch, null, false)])),
  ];
}

function plannedRoute(
  route: Route,
  onMatch: OnMatch,
  errorShape: ProviderShape | null,
  ofProvider: boolean,
): PlannedRoute {
  const schemes = credentialsOf(route).map(({ scheme }) => scheme);
  return {
    route,
    auth_scheme: schemes.length === 0 ? null : schemes.join("+"),
    outbound_on_match: route.dlp?.outbound_on_match ?? onMatch,
    error_shape: errorShape,
    of_provider: ofProvider,
  };
}

export const credentialsOf = ({ auth }: Route): readonly RouteAuth[] => [auth ?? []].flat();

/** Names of the variables whose values the gate puts in, each once. */
export const tokenRefs = (routes: readonly PlannedRoute[]): string[] => [
  ...new Set(routes.flatMap(({ route }) => credentialsOf(route).flatMap(({ token_ref }) => token_ref ?? []))),
];

/** Routes that an earlier one covers whole, as sentences: they decide nothing. */
export function shadowedRoutes(routes: readonly PlannedRoute[]): string[] {
  return routes.flatMap(({ route }, index) => {
    const earlier = routes
      .slice(0, index)
      .find(
        ({ route: one }) =>
          one.host !== route.host &&
          coversHost(one.host, route.host.replace(/^\*\./, "any.")) &&
          (one.ports === undefined || one.ports.join() === route.ports?.join()),
      );
    return earlier
      ? [`The route for ${route.host} is never used: the one for ${earlier.route.host} stands before it and covers it.`]
      : [];
  });
}
