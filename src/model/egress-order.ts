import type { BudgetOrder } from "./budget.ts";
import type { EgressLog, OnMatch, RouteMatch } from "./egress.ts";

/** How a model's provider tells of an error: what a gate refuses on its route is refused in that shape, because its agents give up at any other. */
export type ProviderShape = "anthropic" | "openai" | "google";

/** What goes in for a credential of the agent's. */
export interface GateCredential {
  /** The variable, or the name of the command, that it comes from. */
  readonly name: string;
  /** Null while there is none: requests fail closed, and the report says that it is wanted. */
  readonly token: string | null;
  readonly scheme: "Bearer" | "token" | "Basic" | "ApiKey";
  /** Where it goes, unless it goes where its scheme says. */
  readonly header: string | null;
  readonly query: string | null;
  /** Whether a new one can be had when an upstream does not take it. */
  readonly renewable: boolean;
  /** Why there is none. Null with a null token: the gate keeps what it has under that name, if anything. */
  readonly problem: string | null;
}

/** A route as a gate uses it: files are read, variables are resolved, defaults are filled in. */
export interface GateRoute {
  /** As `canonicalHostPattern` gives it, or `*`. */
  readonly host: string;
  readonly ports: readonly number[];
  /** `ADDRESS:PORT`. */
  readonly connect: string | null;
  /** PEM. */
  readonly ca: string | null;
  readonly tls: "intercept" | "passthrough";
  readonly matches: readonly RouteMatch[] | null;
  readonly credentials: readonly GateCredential[];
  /** Names of known values and of stand-ins that may go there. */
  readonly pass: readonly string[];
  readonly dlp: {
    /** Null: all. */
    readonly outbound_detectors: readonly string[] | null;
    readonly inbound_detectors: readonly string[];
    readonly outbound_on_match: OnMatch;
  };
  readonly provider: ProviderShape | null;
}

/** A value that must not leave, but to where a route lets it pass. */
export interface GuardedValue {
  readonly kind: "known_secrets" | "canary" | "stand_ins";
  readonly name: string;
  readonly value: string;
}

/** What an egress door lets out. */
export interface EgressOrder {
  readonly log: EgressLog;
  /** In their order: the first that covers a host and a port decides. */
  readonly routes: readonly GateRoute[];
  readonly guarded: readonly GuardedValue[];
  /** The host's own way out. */
  readonly way_out: { readonly proxy: string | null; readonly ca: string | null };
  /** What a run may use up; without it, all that it likes. */
  readonly budget?: BudgetOrder | null;
}
