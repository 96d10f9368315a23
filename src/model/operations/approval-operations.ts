import { type Operation, typeOnly } from "../operation.ts";
import type { ApprovalRule, ApprovalRuleList, Proposal, ProposalDetail, ProposalList } from "../proposal.ts";
import { APPROVAL_SCOPES, MAX_REASON, PROPOSAL_KIND_NAMES, PROPOSAL_STATUSES, RULE_ID } from "../proposal-kinds.ts";

/** The operator's side of supervise. SECURITY: no tool of MCP does any of it: what asks cannot answer (G-96) */
export const approvalOperations = {
  /** Oldest first. Pending ones also after their run has ended. */
  listApprovals: {
    kind: "call",
    input: ({ z, identity, proposalId }) =>
      z.strictObject({
        /** One alone, without it being shown: an approval is bound to what `showApproval` gave last. */
        proposal_id: proposalId.optional(),
        identity: identity.optional(),
        kind: z.enum(PROPOSAL_KIND_NAMES).optional(),
        /** Without it, those that wait for an answer. */
        status: z.enum([...PROPOSAL_STATUSES, "all"]).optional(),
      }),
    result: typeOnly<ProposalList>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "approvals list",
    mcp: null,
  },
  /** With what it changes, as that is now: an approval is for what was shown last. */
  showApproval: {
    kind: "call",
    input: ({ z, proposalId }) =>
      z.strictObject({
        proposal_id: proposalId,
        /** What would be if this were approved in the place of what was proposed. */
        proposed: z.unknown().optional(),
      }),
    result: typeOnly<ProposalDetail>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "approvals show",
    mcp: null,
  },
  /** Applies it, has the gate confirm it, and answers then. */
  approveProposal: {
    kind: "call",
    input: ({ z, proposalId }) =>
      z.strictObject({
        proposal_id: proposalId,
        scope: z.enum(APPROVAL_SCOPES).optional(),
        reason: z.string().max(MAX_REASON).optional(),
        /** In the place of what was proposed. */
        proposed: z.unknown().optional(),
        /** As it was shown to whoever approves; without it, as it was shown last to anybody. */
        current_hash: z.string().max(128).optional(),
      }),
    result: typeOnly<Proposal>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "making",
    cli: "approvals approve",
    mcp: null,
  },
  rejectProposal: {
    kind: "call",
    input: ({ z, proposalId }) => z.strictObject({ proposal_id: proposalId, reason: z.string().max(MAX_REASON) }),
    result: typeOnly<Proposal>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "light",
    cli: "approvals reject",
    mcp: null,
  },
  listApprovalRules: {
    kind: "call",
    input: ({ z }) => z.strictObject({}),
    result: typeOnly<ApprovalRuleList>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "approvals rules list",
    mcp: null,
  },
  /** From now on proposals of exactly this content are approved at once. */
  addApprovalRule: {
    kind: "call",
    input: ({ z, manifestName }) =>
      z.strictObject({
        kind: z.enum(PROPOSAL_KIND_NAMES),
        proposed: z.unknown(),
        reason: z.string().max(MAX_REASON),
        agent_name: manifestName.optional(),
        scope: z.enum(APPROVAL_SCOPES).optional(),
      }),
    result: typeOnly<ApprovalRule>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "light",
    cli: "approvals rules add",
    mcp: null,
  },
  /** What it has approved stays approved. */
  removeApprovalRule: {
    kind: "call",
    input: ({ z }) =>
      z.strictObject({ rule_id: z.string().regex(RULE_ID, "a rule's id is r- and ten letters or digits") }),
    result: typeOnly<ApprovalRule>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "light",
    cli: "approvals rules remove",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
