import type { Door } from "./door.ts";
import type { DenialCode } from "./egress-denial.ts";
import type { EgressOrder } from "./egress-order.ts";
import type { GitOrder } from "./git-order.ts";
import type { EgressFinding } from "./event.ts";
import type { ModelUsage } from "./model-usage.ts";

/**
 * What the daemon and the gate of a workspace say to each other, as lines of JSON on the gate's socket. The daemon gives a `GateOrder`, and says with `GateHeard` which
 * events it has. The gate gives a `GateReport`, once when the daemon comes and whenever something in it changes, and `GateEvents`. A gate outlives daemons: one of
 * another protocol is ended and started anew.
 */
export const GATE_PROTOCOL = 5;

/** All that a gate is to do. It takes the place of what it was told before. */
export interface GateOrder {
  /** Above that of the order in force. */
  readonly revision: number;
  /** Where it reaches the guest program of the sandbox; null while there is none. */
  readonly guest_socket: string | null;
  readonly doors: readonly Door[];
  /** What its egress doors let out; null leaves that as it is, for a daemon that does not know the credentials. */
  readonly egress: EgressOrder | null;
  /** What its git door serves; null leaves that as it is. */
  readonly git: GitOrder | null;
}

export interface DoorReport {
  readonly port: number;
  /** `opening` until the sandbox has answered; `closed` has a reason, and is tried again as long as the sandbox is there. */
  readonly state: "opening" | "open" | "closed";
  readonly reason: string | null;
}

export interface GateReport {
  readonly protocol: number;
  /** Of the order in force; 0 before the first. */
  readonly revision: number;
  /** As in that order. */
  readonly guest_socket: string | null;
  readonly doors: readonly DoorReport[];
  /** Those that an egress door has beside it, for tools that know no proxy. */
  readonly name_doors: readonly DoorReport[];
  /** Null where it was never told what to let out: then it lets out nothing. */
  readonly egress: {
    /** What the sandbox is to trust, in PEM. */
    readonly certificate: string;
    /** Names of credentials that an upstream did not take, or that are not there. */
    readonly wants: readonly string[];
  } | null;
}

interface EgressFacts {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly rule: string | null;
  readonly bytes_sent: number;
  readonly bytes_received: number;
  readonly duration_ms: number;
  readonly injected: boolean;
  readonly findings: readonly EgressFinding[];
  /** Of a model's answer that told it. */
  readonly model_usage: ModelUsage | null;
}

export type EgressEvent =
  | (EgressFacts & { readonly kind: "egress.request"; readonly status: number })
  | (EgressFacts & { readonly kind: "egress.denied"; readonly code: DenialCode });

/** What became of a push. */
export type PushEvent =
  | { readonly kind: "push.accepted"; readonly repo: string; readonly refs: string[] }
  | { readonly kind: "push.rejected"; readonly repo: string; readonly refs: string[]; readonly reason: string };

/** `is_logged`: the policy asks for it to be told. What is not is only counted. */
export type GateEvent = (EgressEvent & { readonly is_logged: boolean }) | PushEvent;

export interface GateEvents {
  readonly events: readonly GateEvent[];
  /** To be said in `GateHeard` once they are in the log. */
  readonly through: number;
  /** So many before these were dropped, because nobody took them. */
  readonly lost: number;
}

export interface GateHeard {
  readonly heard: number;
}
