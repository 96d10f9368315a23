import { createHash } from "node:crypto";
import { basename } from "node:path";
import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import type { OnMatch, Route, RouteAuth } from "../../model/egress.ts";
import type { GateCredential, GateRoute, GuardedValue } from "../../model/egress-order.ts";

/** A token as far as it is known, or why it is not. */
export type TokenState = Pick<GateCredential, "token" | "problem">;

export interface RouteSources {
  /** The text of a route's `ca`. */
  readonly ca: (path: string) => string;
  /** By the name of `credentialName`. */
  readonly token: (name: string) => TokenState;
  readonly onMatch: OnMatch;
}

/** What a credential is known by: its variable, or its command. Arguments may be nobody's business, so that a digest stands for them. */
export function credentialName({ token_ref, token_command = [] }: RouteAuth): string {
  if (token_ref !== undefined) return token_ref;
  const digest = createHash("sha256").update(JSON.stringify(token_command)).digest("hex");
  return `${basename(token_command[0] ?? "")}#${digest.slice(0, 6)}`;
}

export const authsOf = ({ auth }: Pick<Route, "auth">): readonly RouteAuth[] =>
  auth === undefined ? [] : Array.isArray(auth) ? auth : [auth];

/** A route as the gate of a sandbox uses it. */
export function gateRoute(route: Route, { ca, token, onMatch }: RouteSources): GateRoute {
  const on = route.dlp?.outbound_on_match ?? onMatch;
  const auths = authsOf(route);
  return {
    host: route.host,
    ports: route.ports ?? [...DEFAULT_PORTS],
    connect: route.connect ?? null,
    ca: route.ca === undefined ? null : ca(route.ca),
    tls: route.tls ?? "intercept",
    matches: route.matches ?? null,
    credentials: auths.map((auth) => ({
      name: credentialName(auth),
      ...token(credentialName(auth)),
      scheme: auth.scheme,
      header: auth.header ?? null,
      query: auth.query ?? null,
      renewable: auth.token_command !== undefined,
    })),
    // A stand-in is at home here: it goes on as it is, but for a route that overwrites what it finds.
    pass: [...(route.secrets ?? []), ...(on === "redact" ? [] : auths.flatMap(({ token_ref: name }) => name ?? []))],
    dlp: {
      outbound_detectors: route.dlp?.outbound_detectors ?? null,
      inbound_detectors: route.dlp?.inbound_detectors ?? [],
      outbound_on_match: on,
    },
    provider: null,
  };
}

/** Real tokens are guarded under another name than their stand-ins: one that got into a sandbox goes nowhere, not even home. */
export const guardedTokenName = (credential: string): string => `token of ${credential}`;

export function guardedTokens(routes: readonly GateRoute[]): GuardedValue[] {
  const all = routes.flatMap(({ credentials }) => credentials);
  const byName = new Map(all.flatMap(({ name, token }) => (token === null ? [] : [[name, token] as const])));
  return [...byName].map(([name, value]) => ({ kind: "known_secrets", name: guardedTokenName(name), value }));
}
