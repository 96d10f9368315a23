/** What an answer holds for. */
export const APPROVAL_SCOPES = ["once", "run", "bottle"] as const;
/** `once`: one time. `run`: until the run has ended, also when it is resumed. `bottle`: it is written into the bottle's file. */
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

/** `pending` alone waits for an answer; the others are for ever. A wait that ran out is still `pending`. */
export const PROPOSAL_STATUSES = ["pending", "approved", "modified", "rejected", "expired"] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

interface KindRow {
  /** Whether a tool of the supervise door raises it, or the gate itself does. */
  readonly raised_by: "agent" | "gate";
  /** What an approval can hold for; the first is what one holds for that does not say. */
  readonly scopes: readonly [ApprovalScope, ...ApprovalScope[]];
  /** Whether an approval has to say why. A rejection always has to. */
  readonly needs_reason: boolean;
  /** Whether the operator may change what is proposed. */
  readonly editable: boolean;
  /** Whether a rule that the operator wrote may answer it. */
  readonly automatic: boolean;
}

/**
 * All kinds of proposals. A kind is added here, gets a schema in `PROPOSED` (`proposal.ts`), a sentence in `src/policy/supervise/adds.ts` and an effect in
 * `src/daemon/proposal-effects.ts`; whatever forgets it does not compile.
 */
export const PROPOSAL_KINDS = {
  "egress-block": {
    raised_by: "agent",
    scopes: ["run", "once", "bottle"],
    needs_reason: false,
    editable: true,
    automatic: true,
  },
  "capability-block": {
    raised_by: "agent",
    scopes: ["run"],
    needs_reason: false,
    editable: true,
    automatic: true,
  },
  "dlp-allow": { raised_by: "gate", scopes: ["once", "run"], needs_reason: true, editable: false, automatic: false },
  "push-allow": { raised_by: "gate", scopes: ["once"], needs_reason: true, editable: false, automatic: false },
  /** A run has used up what its bottle's `limits` give it. */
  budget: { raised_by: "gate", scopes: ["run"], needs_reason: false, editable: true, automatic: false },
} as const satisfies Record<string, KindRow>;

export type ProposalKind = keyof typeof PROPOSAL_KINDS;
export const PROPOSAL_KIND_NAMES = Object.keys(PROPOSAL_KINDS) as [ProposalKind, ...ProposalKind[]];

/** A row without the types of its own words. */
export const proposalKindRow = (kind: ProposalKind): KindRow => PROPOSAL_KINDS[kind];
export const isProposalKind = (text: string): text is ProposalKind => Object.hasOwn(PROPOSAL_KINDS, text);

/** `p-` and ten characters. The gate makes it, so that an agent can be told while no daemon runs. */
export const PROPOSAL_ID = /^p-[0-9a-z]{10}$/;
export const RULE_ID = /^r-[0-9a-z]{10}$/;

/** A tool call of an agent waits so long for an answer, and so does a request that is held: most clients bear that. */
export const WAIT_SECONDS = 30;
/** A push is told meanwhile that it waits, so that it can wait longer. */
export const PUSH_WAIT_SECONDS = 300;
/** Without an answer a proposal is over after that. */
export const PROPOSAL_SECONDS = 24 * 3600;
/** What was held and could not wait passes for so long after its approval, once. */
export const GRANT_SECONDS = 3600;

/** SECURITY: an agent cannot flood the operator, nor the daemon's store (G-95) */
export const MAX_PENDING_PER_RUN = 32;
/** SECURITY: nor by asking again for what is answered, with other words each time (G-121) */
export const MAX_PROPOSALS_PER_HOUR = 120;
/** The same asked again within that time of a rejection is answered with it. */
export const REJECTION_SECONDS = 600;
export const MAX_PROPOSED_BYTES = 64 * 1024;
export const MAX_JUSTIFICATION = 4096;
export const MAX_REASON = 2048;
