import type { approvalOperations } from "../model/operations/approval-operations.ts";
import type { OperationInput, OperationResult } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { Proposals } from "./proposals.ts";
import type { Rules } from "./rules.ts";

type Names = keyof typeof approvalOperations;
type ApprovalVerbs = {
  readonly [Name in Names]: (
    input: OperationInput<Name>,
    context: { readonly progress: ReportProgress },
  ) => Promise<OperationResult<Name>>;
};

/** The operations of the operator's side. */
export function approvalVerbs(proposals: Proposals, rules: Rules): ApprovalVerbs {
  /* eslint-disable @typescript-eslint/require-await -- what they throw is a rejection */
  return {
    listApprovals: async (input) => proposals.list(input),
    showApproval: async (input) => proposals.show(input),
    approveProposal: (input, { progress }) => proposals.approve(input, progress),
    rejectProposal: (input) => proposals.reject(input),
    listApprovalRules: async () => rules.list(),
    addApprovalRule: async (input) => rules.add(input),
    removeApprovalRule: async (input) => rules.remove(input),
  };
  /* eslint-enable @typescript-eslint/require-await */
}
