import type { Clock } from "../base/clock.ts";
import { randomName } from "../base/ids.ts";
import type { Events } from "../contracts/events.ts";
import type { Store, StoredProposal } from "../contracts/store.ts";
import type { GateAnswer, GateAsk } from "../model/gate-control.ts";
import {
  isProposalKind,
  MAX_JUSTIFICATION,
  MAX_PENDING_PER_RUN,
  MAX_PROPOSALS_PER_HOUR,
  MAX_PROPOSED_BYTES,
  PROPOSAL_ID,
  PROPOSAL_SECONDS,
  type Proposed,
  REJECTION_SECONDS,
} from "../model/proposal.ts";
import { addsOf } from "../policy/supervise/adds.ts";
import { contentHash, hashOf } from "../policy/supervise/content-hash.ts";
import type { Effect, Effects, Subject } from "./effect.ts";
import { checkProposed } from "./read-proposed.ts";

/** Answered ones are kept for their readers; what counts is in the log of events. */
const KEPT_SECONDS = 30 * 24 * 3600;
const MOST_KEPT = 5000;
const HOUR = 3600;

export interface TakeOptions {
  readonly store: Store;
  readonly events: Events;
  readonly clock: Clock;
  readonly effects: Effects;
  /** Undefined for a workspace that is gone. */
  readonly subjectOf: (workspaceId: string) => Subject | undefined;
}

export const NO_ANSWER = { status: "rejected", reason: null, proposed: null, scope: null, valid_until: null } as const;

/** What a gate is told about something that it asked for. A new proposal is written down, and added to `made`. Within a transaction. */
export function takeAsk(options: TakeOptions, workspaceId: string, ask: GateAsk, made: StoredProposal[]): GateAnswer {
  const { store } = options;
  // SECURITY: a gate asks and hears about its own workspace only, whatever ids it names (G-96)
  const known = store.findAsk(workspaceId, ask.ask_id);
  if (known) return toGate(known, ask.ask_id);
  const refused = (reason: string): GateAnswer => ({
    ...NO_ANSWER,
    ask_id: ask.ask_id,
    proposal_id: ask.ask_id,
    reason,
  });
  const checked = check(options, workspaceId, ask);
  if (typeof checked === "string") return refused(checked);
  const { subject, proposed } = checked;
  const hash = contentHash(ask.kind, proposed);
  const same = store.findContent(workspaceId, ask.kind, hash);
  if (same?.status === "pending") {
    const both = { ...same, ask_ids: [...same.ask_ids, ask.ask_id].slice(-MAX_PENDING_PER_RUN) };
    store.putProposal(both);
    return toGate(both, ask.ask_id);
  }
  // SECURITY: what is answered is not asked again for nothing: it would be a proposal and two entries of the audit each time (G-121)
  if (same && stands(options, subject, same)) return toGate(same, ask.ask_id);
  // SECURITY: an agent cannot flood the operator, nor this store, also through a gate that has lost count (G-95)
  if (store.countPending(workspaceId) >= MAX_PENDING_PER_RUN)
    return refused("Too many proposals of this run wait for the operator already");
  // SECURITY: nor by proposals that a rule answers, or that differ by a letter (G-121)
  if (store.countProposals(workspaceId, options.clock.now() - HOUR) >= MAX_PROPOSALS_PER_HOUR)
    return refused(
      `The operator was not asked: this run has made ${MAX_PROPOSALS_PER_HOUR} proposals within an hour, which is the most there can be`,
    );
  const proposal = insert(options, subject, ask, proposed);
  made.push(proposal);
  return toGate(proposal, ask.ask_id);
}

/** Whether the answer that something had is the answer to the same asked now. */
function stands(
  { effects, clock }: TakeOptions,
  subject: Subject,
  { kind, status, scope, proposed, decided_at }: StoredProposal,
): boolean {
  // Also when the clock was set back: a rejection does not stand longer for that.
  if (status === "rejected") return Math.abs(clock.now() - (decided_at ?? 0)) < REJECTION_SECONDS;
  // What passes once may have passed: that is asked for anew.
  if ((status !== "approved" && status !== "modified") || scope === "once") return false;
  return (effects[kind] as Effect).holds?.(subject, proposed) ?? false;
}

function check(
  { subjectOf, events }: TakeOptions,
  workspaceId: string,
  { kind, proposed: given }: GateAsk,
): { subject: Subject; proposed: Proposed } | string {
  const subject = subjectOf(workspaceId);
  if (!subject) return "Its workspace is gone";
  if (!isProposalKind(kind)) return "There is no such kind of proposal";
  if (Buffer.byteLength(JSON.stringify(given ?? null)) > MAX_PROPOSED_BYTES) return "It is too large";
  // SECURITY: neither the store nor the operator's screen has a value that must not leave (G-29)
  const checked = checkProposed(kind, events.concealed(workspaceId, given));
  return "problem" in checked ? `It cannot be used: ${checked.problem}` : { subject, proposed: checked.proposed };
}

function insert(
  { store, events, clock, effects }: TakeOptions,
  subject: Subject,
  { ask_id, kind, justification, command, created_at }: GateAsk,
  proposed: Proposed,
): StoredProposal {
  const { workspace_id, identity, agent_name, bottle_names } = subject;
  const look = (effects[kind] as Effect).look(subject, proposed);
  const now = clock.now();
  const isFree = PROPOSAL_ID.test(ask_id) && store.findProposal(ask_id) === undefined;
  const proposal: StoredProposal = {
    proposal_id: isFree ? ask_id : `p-${randomName(10)}`,
    workspace_id,
    identity,
    agent_name,
    bottle_names: [...bottle_names],
    kind,
    justification: events.concealed(workspace_id, justification.slice(0, MAX_JUSTIFICATION)),
    proposed,
    adds: addsOf(kind, proposed, look),
    command: command === null ? null : events.concealed(workspace_id, command.slice(0, MAX_JUSTIFICATION)),
    content_hash: contentHash(kind, proposed),
    current_hash: hashOf(look.current),
    // Of a gate that waited long for a daemon; never of one whose clock is ahead.
    created_at: Math.min(created_at, now),
    expires_at: now + PROPOSAL_SECONDS,
    status: "pending",
    decided_at: null,
    decided_by: null,
    reason: null,
    scope: null,
    ask_ids: [ask_id],
    valid_until: null,
  };
  store.putProposal(proposal);
  events.record({
    kind: "proposal.created",
    workspace_id,
    identity,
    proposal_id: proposal.proposal_id,
    proposal_kind: kind,
    justification: proposal.justification,
    adds: proposal.adds,
    proposed,
    command: proposal.command,
    current_hash: proposal.current_hash,
    expires_at: proposal.expires_at,
  });
  store.dropProposals({ sinceTime: now - KEPT_SECONDS, most: MOST_KEPT });
  return proposal;
}

/** As the gate hears of it. */
export function toGate(stored: StoredProposal, ask_id: string): GateAnswer {
  const { proposal_id, status, reason, scope, valid_until } = stored;
  return {
    ask_id,
    proposal_id,
    status,
    reason: status === "pending" ? null : reason,
    proposed: status === "modified" ? stored.proposed : null,
    scope,
    valid_until,
  };
}
