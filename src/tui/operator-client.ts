import type { Cloche } from "../sdk/cloche.ts";

/** What an operator's screen asks of the client. */
export type OperatorClient = Pick<
  Cloche,
  "watch" | "listRuns" | "stopRun" | "listApprovals" | "showApproval" | "approveProposal" | "rejectProposal"
>;
