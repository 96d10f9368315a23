import type { Log } from "../../base/log.ts";
import type { Authority } from "../tls/authority.ts";
import type { EgressEvents } from "./egress-events.ts";
import type { Patience } from "./patience.ts";
import type { PolicyInForce } from "./policy-in-force.ts";
import type { Upstreams } from "./upstreams.ts";

/** What everything on the way of a request uses. */
export interface EgressContext {
  /** That of now; a request keeps the one that it began with. */
  readonly policy: () => PolicyInForce;
  readonly authority: () => Authority;
  readonly upstreams: Upstreams;
  readonly events: EgressEvents;
  /** Where a sandbox pushes to a repository of that host; undefined for a host without one. */
  readonly gitDoor: (host: string) => string | undefined;
  /** An upstream did not take a credential, or there is none. */
  readonly want: (names: readonly string[]) => void;
  readonly patience: Patience;
  readonly log: Log;
}
