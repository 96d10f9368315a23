import type { BudgetState } from "./budget.ts";
import type { Door } from "./door.ts";
import type { DenialCode } from "./egress-denial.ts";
import type { EgressOrder } from "./egress-order.ts";
import type { GitOrder } from "./git-order.ts";
import type { EgressFinding } from "./event.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { ApprovalScope, ProposalKind, ProposalStatus } from "./proposal-kinds.ts";

/**
 * What the daemon and the gate of a workspace say to each other, as lines of JSON on the gate's socket. The daemon gives a `GateOrder`, and says with `GateHeard` which
 * events it has. The gate gives a `GateReport`, once when the daemon comes and whenever something in it changes, and `GateEvents`. It gives `GateAsks`, all that have no
 * answer yet, when the daemon comes and whenever there is another one; the daemon gives `GateAnswers`. A gate outlives daemons: one of another protocol is ended and
 * started anew.
 */
export const GATE_PROTOCOL = 8;

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
  /** Names of the credentials that were put in. */
  readonly credentials: readonly string[];
  readonly findings: readonly EgressFinding[];
  /** Of a model's answer that told it. */
  readonly model_usage: ModelUsage | null;
}

export type EgressEvent =
  | (EgressFacts & { readonly kind: "egress.request"; readonly status: number })
  | (EgressFacts & { readonly kind: "egress.denied"; readonly code: DenialCode });

/** What became of a push. */
export type PushEvent =
  | { readonly kind: "push.held"; readonly repo: string; readonly refs: string[]; readonly proposal_id: string }
  | { readonly kind: "push.accepted"; readonly repo: string; readonly refs: string[] }
  | { readonly kind: "push.rejected"; readonly repo: string; readonly refs: string[]; readonly reason: string };

/** What an agent says at the supervise door and wants no answer to. */
export interface AgentEvent {
  readonly kind: "run.done";
  readonly summary: string;
}

/** Requests of one moment into which credentials were put, and of which nothing else is told. */
export interface CredentialEvent {
  readonly kind: "credential.used";
  readonly credentials: string[];
  readonly host: string;
  readonly port: number;
  readonly requests: number;
}

/** `is_logged`: the policy asks for it to be told. What is not is only counted, and told where a credential was used. */
export type GateEvent =
  | (EgressEvent & { readonly is_logged: boolean })
  | CredentialEvent
  | PushEvent
  | AgentEvent
  | (BudgetState & { readonly kind: "budget.near" });

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

/** The daemon is about to end the gate, and wants to hear first what it has not told. */
export interface GateFinish {
  readonly finish: true;
}

/** All is told, and heard. */
export interface GateFinished {
  readonly finished: true;
}

/** Something that is to be decided, as the gate has it: raised by a tool of the supervise door, or by the gate itself. */
export interface GateAsk {
  /** The id of the proposal, unless the daemon knows the same one under another id. */
  readonly ask_id: string;
  readonly kind: ProposalKind;
  readonly justification: string;
  /** As `PROPOSED` has it for that kind. The daemon checks it. */
  readonly proposed: unknown;
  /** What caused it; null where nobody knows. */
  readonly command: string | null;
  /** Unix seconds, by the host's clock. */
  readonly created_at: number;
}

/** Those that have no answer yet, each until it has. The daemon may know some of them. */
export interface GateAsks {
  readonly asks: readonly GateAsk[];
}

/** What became of one. `pending`: it is in the daemon's store. */
export interface GateAnswer {
  readonly ask_id: string;
  /** Mostly the same. */
  readonly proposal_id: string;
  readonly status: ProposalStatus;
  /** In the operator's words; of a `pending` one, why an approval could not be applied. */
  readonly reason: string | null;
  /** As it was approved, where the operator changed it; else null. */
  readonly proposed: unknown;
  readonly scope: ApprovalScope | null;
  /** Unix seconds: until then what was held, and could not wait, passes. Null where nothing is held. */
  readonly valid_until: number | null;
}

export interface GateAnswers {
  readonly answers: readonly GateAnswer[];
}
