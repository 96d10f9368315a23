import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../../base/log.ts";
import type { RequestFacts } from "../../policy/egress/route-table.ts";
import type { HeldRequests } from "../supervise/held-requests.ts";
import type { RunBudget } from "../supervise/run-budget.ts";
import type { Authority } from "../tls/authority.ts";
import type { EgressEvents } from "./egress-events.ts";
import type { Patience } from "./patience.ts";
import type { PolicyInForce } from "./policy-in-force.ts";
import type { Upstreams } from "./upstreams.ts";

/** Has a request served by the git gate, if it is for a repository of the bottle. */
export type ServeGit = (
  at: { readonly host: string; readonly port: number },
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/** What everything on the way of a request uses. */
export interface EgressContext {
  /** That of now; a request keeps the one that it began with. */
  readonly policy: () => PolicyInForce;
  readonly authority: () => Authority;
  readonly upstreams: Upstreams;
  readonly events: EgressEvents;
  /** Where a sandbox finds the repositories of that host, for people; undefined for a host without one. */
  readonly gitDoors: (host: string) => string | undefined;
  readonly serveGit: ServeGit;
  /** An upstream did not take a credential, or there is none. */
  readonly want: (names: readonly string[]) => void;
  /** Who decides about what is held. */
  readonly held: HeldRequests;
  /** Whether the operator lets this one request out, which no route does. It is used up then. */
  readonly takeOnce: (place: { readonly host: string; readonly port: number }, request: RequestFacts) => boolean;
  /** What the run may use up. */
  readonly budget: Pick<RunBudget, "isUsedUp" | "decide" | "begin" | "giveBack" | "count">;
  readonly patience: Patience;
  readonly log: Log;
}
