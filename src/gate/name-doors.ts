import type { Door } from "../model/door.ts";
import type { EgressOrder } from "../model/egress-order.ts";

const RESOLVER_PORT = 53;
/** Of all routes together; further ones are reached through the proxy. */
const MAX_PORTS = 64;

/** Doors for tools that know no proxy: names are asked for at a resolver, and each host is at an address of its own. */
export interface NameDoor {
  readonly port: number;
  readonly to: { readonly kind: "hosts" | "resolver" | "questions" };
}

/** What belongs to an egress door: the ports of its routes, but for those that are doors themselves. */
export function nameDoors(doors: readonly Door[], egress: EgressOrder | null): NameDoor[] {
  if (!egress || !doors.some(({ to }) => to.kind === "egress")) return [];
  const taken = new Set([RESOLVER_PORT, ...doors.map(({ port }) => port)]);
  const ports = [...new Set(egress.routes.flatMap((route) => route.ports))].filter((port) => !taken.has(port));
  const hosts = ports.slice(0, MAX_PORTS).map((port): NameDoor => ({ port, to: { kind: "hosts" } }));
  if (doors.some(({ port }) => port === RESOLVER_PORT)) return hosts;
  return [
    { port: RESOLVER_PORT, to: { kind: "resolver" } },
    { port: RESOLVER_PORT, to: { kind: "questions" } },
    ...hosts,
  ];
}
