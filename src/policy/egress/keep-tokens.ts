import type { EgressOrder, GateCredential } from "../../model/egress-order.ts";
import { guardedTokens } from "./gate-routes.ts";

/**
 * An order from one who does not know all credentials, such as a daemon that was started again: the gate goes on with those that it has under the same names. A credential
 * that is known to be gone has a reason, and stays away.
 */
export function keepTokens(next: EgressOrder, before: EgressOrder | null): EgressOrder {
  const all = before?.routes.flatMap(({ credentials }) => credentials) ?? [];
  const known = new Map(all.map(({ name, token }) => [name, token]));
  const isKept = ({ name, token, problem }: GateCredential) => token === null && problem === null && known.get(name);
  if (!next.routes.some(({ credentials }) => credentials.some(isKept))) return next;
  const routes = next.routes.map((route) => ({
    ...route,
    credentials: route.credentials.map((one) => (isKept(one) ? { ...one, token: known.get(one.name) ?? null } : one)),
  }));
  const guarded = guardedTokens(routes);
  const names = new Set(guarded.map(({ name }) => name));
  return { ...next, routes, guarded: [...next.guarded.filter(({ name }) => !names.has(name)), ...guarded] };
}
