import { isClocheError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Turns } from "../base/turns.ts";
import type { Gates } from "../contracts/gates.ts";
import type { StoredProposal } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { GateAsk } from "../model/gate-control.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import {
  type ApprovalScope,
  GRANT_SECONDS,
  type Proposal,
  type ProposalDetail,
  type ProposalList,
  type ProposalStatus,
  proposalKindRow,
  type Proposed,
} from "../model/proposal.ts";
import { addsOf } from "../policy/supervise/adds.ts";
import { contentHash, hashOf } from "../policy/supervise/content-hash.ts";
import { requireReason, requireScope } from "./answer-rules.ts";
import type { Effect, Look } from "./effect.ts";
import { Expiry } from "./expiry.ts";
import { findProposal } from "./find-proposal.ts";
import { readEdited } from "./read-proposed.ts";
import type { Rules } from "./rules.ts";
import { NO_ANSWER, takeAsk, type TakeOptions, toGate } from "./take-ask.ts";

export interface ProposalsOptions extends TakeOptions {
  readonly gates: Gates;
  readonly log: Log;
  readonly rules: Rules;
  /** Who answers: the user whose daemon this is. */
  readonly operator: string;
}

/** An answer on its way. */
interface Approval {
  readonly scope: ApprovalScope;
  readonly reason: string | null;
  readonly proposed: Proposed;
  readonly isModified: boolean;
  readonly decidedBy: string;
  readonly shownHash: string;
  readonly progress: ReportProgress;
}
const unheard: ReportProgress = () => undefined;

/**
 * The one queue of what agents ask for, of all runs and all kinds. It is in the store before anybody is told of it, and so is each answer. What an approval allows is in
 * force before the answer is written down.
 */
export class Proposals {
  readonly #options: ProposalsOptions;
  /** SECURITY: of two operators who answer one proposal at once, one is late (G-96) */
  readonly #turns = new Turns();
  readonly #expiry: Expiry;

  constructor(options: ProposalsOptions) {
    this.#options = options;
    const { store, clock, gates } = options;
    this.#expiry = new Expiry({ now: () => clock.now(), onDue: (id) => this.#expire(id) });
    for (const { proposal_id: id, expires_at: at } of store.listProposals("pending")) this.#expiry.add(id, at);
    gates.listenToAsks({ asks: (workspaceId, asks) => this.take(workspaceId, asks) });
  }

  close(): void {
    this.#expiry.close();
  }

  list({ proposal_id: id, identity, kind, status = "pending" }: OperationInput<"listApprovals">): ProposalList {
    const { store } = this.#options;
    this.#expiry.check();
    const all =
      id === undefined ? store.listProposals(status === "all" ? undefined : status) : [findProposal(store, id)];
    const proposals = all.filter(
      (one) =>
        (identity === undefined || one.identity === identity) &&
        (kind === undefined || one.kind === kind) &&
        (status === "all" || one.status === status),
    );
    return { count: proposals.length, proposals: proposals.map(present) };
  }

  /** What is shown now is what an approval is bound to from now on. */
  show({ proposal_id: id, proposed }: OperationInput<"showApproval">): ProposalDetail {
    this.#expiry.check();
    const stored = findProposal(this.#options.store, id);
    if (proposed !== undefined) return this.#showEdited(stored, readEdited(stored.kind, proposed));
    const look = this.#look(stored);
    const { current, after } = look;
    if (stored.status !== "pending") return { ...present(stored), current, after: null };
    const adds = addsOf(stored.kind, stored.proposed, look);
    const shown = { ...stored, adds, current_hash: hashOf(current) };
    if (shown.current_hash !== stored.current_hash || adds !== stored.adds) this.#options.store.putProposal(shown);
    return { ...present(shown), current, after };
  }

  /** What would come of it if this were approved in its place. Nobody else's approval is bound to it. */
  #showEdited(stored: StoredProposal, proposed: Proposed): ProposalDetail {
    const look = this.#look({ ...stored, proposed });
    const adds = addsOf(stored.kind, proposed, look);
    const { current, after } = look;
    return { ...present(stored), proposed, adds, current_hash: this.#editedHash(stored, proposed), current, after };
  }

  async approve(input: OperationInput<"approveProposal">, progress: ReportProgress = unheard): Promise<Proposal> {
    const { store, operator } = this.#options;
    const { proposal_id: id } = findProposal(store, input.proposal_id);
    return await this.#turns.take(id, async () => {
      const stored = this.#mustBePending(id);
      const { kind } = stored;
      const edited = input.proposed === undefined ? undefined : readEdited(kind, input.proposed);
      const isModified = edited !== undefined && contentHash(kind, edited) !== stored.content_hash;
      return await this.#apply(stored, {
        scope: requireScope(kind, input.scope),
        reason: requireReason(input.reason, proposalKindRow(kind).needs_reason, `A ${kind}`),
        proposed: edited ?? stored.proposed,
        isModified,
        decidedBy: operator,
        shownHash: input.current_hash ?? stored.current_hash,
        progress,
      });
    });
  }

  async reject({ proposal_id, reason }: OperationInput<"rejectProposal">): Promise<Proposal> {
    const { store, operator } = this.#options;
    const { proposal_id: id } = findProposal(store, proposal_id);
    return await this.#turns.take(id, async () => {
      const stored = this.#mustBePending(id);
      const why = requireReason(reason, true, "A rejection");
      await Promise.resolve();
      return this.#decide(stored, { status: "rejected", reason: why, decided_by: operator }, null);
    });
  }

  /** From a gate: new ones are written down, known ones are answered as far as they have an answer. */
  take(workspaceId: string, asks: readonly GateAsk[]): void {
    const { store, gates } = this.#options;
    this.#expiry.check();
    const made: StoredProposal[] = [];
    const answers = store.transaction(() => asks.map((ask) => takeAsk(this.#options, workspaceId, ask, made)));
    gates.answer(workspaceId, answers);
    for (const proposal of made) {
      this.#expiry.add(proposal.proposal_id, proposal.expires_at);
      this.#answerByRule(proposal);
    }
  }

  /** What was approved of routes for a run, in that order: it has them again when it is resumed. */
  approvedRoutes(identity: string): Pick<Proposal<"egress-block">, "proposed" | "adds">[] {
    return this.#options.store
      .listProposals()
      .filter(
        (one): one is StoredProposal & Proposal<"egress-block"> =>
          one.identity === identity &&
          one.kind === "egress-block" &&
          one.scope === "run" &&
          (one.status === "approved" || one.status === "modified"),
      )
      .sort((one, other) => (one.decided_at ?? 0) - (other.decided_at ?? 0));
  }

  /** Never rejects. */
  #answerByRule(proposal: StoredProposal): void {
    const rule = this.#options.rules.match(proposal);
    if (!rule) return;
    const { proposal_id: id } = proposal;
    const approve = async () => {
      const stored = this.#mustBePending(id);
      const { scope, reason, rule_id } = rule;
      const { proposed, current_hash: shownHash } = stored;
      await this.#apply(stored, {
        scope,
        reason,
        proposed,
        isModified: false,
        decidedBy: `rule ${rule_id}`,
        shownHash,
        progress: unheard,
      });
      this.#options.rules.count(rule_id);
    };
    this.#turns.take(id, approve).catch((error: unknown) => {
      this.#options.log.warn("a rule could not answer", { proposal: id, rule: rule.rule_id, reason: messageOf(error) });
    });
  }

  /** SECURITY: what is approved is in force, and confirmed, before anybody hears that it is approved; if it cannot be, nothing has changed and both hear why (G-101) */
  async #apply(stored: StoredProposal, approval: Approval): Promise<Proposal> {
    const { kind, proposal_id } = stored;
    const { proposed, scope, shownHash, reason, decidedBy: decided_by, progress } = approval;
    let decided: Proposal | undefined;
    const check = (): void => {
      // SECURITY: an approval is for what was shown, of what was asked for or of what the operator made of that, and for nothing that came in its place (G-101)
      if (![hashOf(this.#look(stored).current), this.#editedHash(stored, proposed)].includes(shownHash))
        throw failure("PROPOSAL_CHANGED", `What ${proposal_id} would change is not as it was when it was shown`);
    };
    const settle = (write?: () => void): void => {
      const status = approval.isModified ? "modified" : "approved";
      decided = this.#decide({ ...stored, proposed }, { status, reason, decided_by }, scope, write);
    };
    try {
      const by = { proposal_id, decided_by };
      await this.#effect(kind).apply(stored, proposed, scope, { by, reason, check, settle, progress });
    } catch (error) {
      // Nothing was tried: whoever approved it looks again.
      if (!isClocheError(error) || error.code !== "PROPOSAL_CHANGED") this.#failed(stored, error, decided_by);
      throw error;
    }
    if (!decided) throw failure("INTERNAL", `The answer to ${proposal_id} was not written down`);
    return decided;
  }

  /** The agent, which waits, hears why; the proposal waits on. */
  #failed({ proposal_id, kind, workspace_id, identity, ask_ids }: StoredProposal, error: unknown, by: string): void {
    const { events, gates } = this.#options;
    const told = { proposal_id, proposal_kind: kind, reason: notApplied(messageOf(error)), decided_by: by };
    events.record({ kind: "proposal.failed", workspace_id, identity, ...told });
    const answer = { ...NO_ANSWER, status: "pending", proposal_id, reason: notApplied(forAgent(error)) } as const;
    gates.answer(
      workspace_id,
      ask_ids.map((ask_id) => ({ ...answer, ask_id })),
    );
  }

  #decide(
    stored: StoredProposal,
    decision: { status: Exclude<ProposalStatus, "pending">; reason: string | null; decided_by: string | null },
    scope: ApprovalScope | null,
    write?: () => void,
  ): Proposal {
    const { store, events, gates, clock } = this.#options;
    const { proposal_id, workspace_id, identity, kind, proposed } = stored;
    const before = this.#look(stored);
    const decided = store.transaction(() => {
      write?.();
      const hash_after = hashOf(this.#look(stored).current);
      const adds = decision.status === "modified" ? addsOf(kind, proposed, before) : stored.adds;
      const answered: StoredProposal = {
        ...stored,
        ...decision,
        adds,
        decided_at: clock.now(),
        scope,
        current_hash: hash_after,
        valid_until: scope === "once" ? clock.now() + GRANT_SECONDS : null,
      };
      store.putProposal(answered);
      const told = { proposal_id, proposal_kind: kind, ...decision, scope, adds, proposed };
      const hash_before = hashOf(before.current);
      events.record({ kind: "proposal.decided", workspace_id, identity, ...told, hash_before, hash_after });
      return answered;
    });
    this.#expiry.remove(proposal_id);
    gates.answer(
      workspace_id,
      decided.ask_ids.map((id) => toGate(decided, id)),
    );
    return present(decided);
  }

  #expire(id: string): void {
    const stored = this.#options.store.findProposal(id);
    if (stored?.status !== "pending") return;
    this.#decide(stored, { status: "expired", reason: "Nobody answered it in time", decided_by: null }, null);
  }

  #mustBePending(id: string): StoredProposal {
    this.#expiry.check();
    const stored = findProposal(this.#options.store, id);
    if (stored.status === "pending") return stored;
    const by = stored.decided_by === null ? "" : ` by ${stored.decided_by}`;
    // SECURITY: an answer is given once: a second one changes nothing (G-96)
    throw failure("PROPOSAL_DECIDED", `Proposal ${id} was ${stored.status}${by} already`, {
      hint: `An answer is given once; see \`cloche approvals show ${id}\` for the one that was given`,
    });
  }

  #look(stored: StoredProposal): Look {
    return this.#effect(stored.kind).look(stored, stored.proposed);
  }

  /** Of what was asked for and of what the operator made of it: neither may have changed. */
  #editedHash(stored: StoredProposal, proposed: Proposed): string {
    return hashOf({ asked: this.#look(stored).current, edited: this.#look({ ...stored, proposed }).current });
  }

  /** The effect of a kind, for a proposal of that kind, which the compiler does not see. */
  #effect(kind: Proposal["kind"]): Effect {
    return this.#options.effects[kind];
  }
}

const notApplied = (why: string): string => `It was approved, and it could not be applied: ${why}`;

/** SECURITY: an agent hears why, and not where the operator's files are. What failed in a builder sandbox is the agent's own (G-120) */
function forAgent(error: unknown): string {
  const message = messageOf(error);
  if (isClocheError(error) && error.code === "ENVIRONMENT_BUILD_FAILED") return message;
  return message.replaceAll(/(["'`])\/.*?\1/g, "a file of the host");
}

/** Without what is between the daemon and the gate. */
function present(stored: StoredProposal): Proposal {
  const proposal: Proposal & Partial<StoredProposal> = { ...stored };
  delete proposal.ask_ids;
  delete proposal.valid_until;
  return proposal;
}
