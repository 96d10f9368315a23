import type {
  ApprovalRule,
  ApprovalRuleList,
  Proposal,
  ProposalDetail,
  ProposalKind,
  ProposalList,
} from "../model/proposal.ts";
import { ask } from "./ask.ts";
import type { DaemonConnection } from "./connection.ts";
import { type ClientParts, InstallationCalls } from "./installation-calls.ts";
import type {
  ApprovalRuleOptions,
  ApproveOptions,
  CallOptions,
  ListApprovalsOptions,
  ShowApprovalOptions,
} from "./options.ts";

/** The calls about what agents ask for, beside those about the installation. */
export class ApprovalCalls extends InstallationCalls {
  readonly #connection: DaemonConnection;

  constructor(parts: ClientParts) {
    super(parts);
    this.#connection = parts.connection;
  }

  /** What agents ask for; without `status`, those that wait for an answer. */
  async listApprovals(options: ListApprovalsOptions = {}): Promise<ProposalList> {
    return await ask(this.#connection, "listApprovals", {}, options);
  }

  /** With what it would change; with `proposed`, what that would change in its place. An approval is for what was shown last, or for the `current_hash` that it names. */
  async showApproval(proposalId: string, options: ShowApprovalOptions = {}): Promise<ProposalDetail> {
    return await ask(this.#connection, "showApproval", { proposal_id: proposalId }, options);
  }

  /** Resolves when what was approved is in force. */
  async approveProposal(proposalId: string, options: ApproveOptions = {}): Promise<Proposal> {
    return await ask(this.#connection, "approveProposal", { proposal_id: proposalId }, options);
  }

  /** The agent hears the reason. */
  async rejectProposal(proposalId: string, reason: string, options: CallOptions = {}): Promise<Proposal> {
    return await ask(this.#connection, "rejectProposal", { proposal_id: proposalId, reason }, options);
  }

  async listApprovalRules(options: CallOptions = {}): Promise<ApprovalRuleList> {
    return await this.#connection.call("listApprovalRules", {}, options);
  }

  /** Has proposals of exactly this content approved at once, until the rule is removed. */
  async addApprovalRule(kind: ProposalKind, proposed: unknown, options: ApprovalRuleOptions): Promise<ApprovalRule> {
    return await ask(this.#connection, "addApprovalRule", { kind, proposed }, options);
  }

  async removeApprovalRule(ruleId: string, options: CallOptions = {}): Promise<ApprovalRule> {
    return await ask(this.#connection, "removeApprovalRule", { rule_id: ruleId }, options);
  }
}
