import type { ApprovalScope, PROPOSAL_KINDS, ProposalKind } from "./proposal-kinds.ts";

type Meanings = {
  readonly [Kind in ProposalKind]: Readonly<Record<(typeof PROPOSAL_KINDS)[Kind]["scopes"][number], string>>;
};

/** What an approval of each scope lets happen, for whoever is about to choose one. */
const MEANINGS: Meanings = {
  "egress-block": {
    once: "one request that it lets out, within an hour",
    run: "all that it lets out, as long as the run is there, also when it is resumed",
    bottle: "also in every later run with the bottle: it is written into its file",
  },
  "capability-block": { run: "this run, also when it is resumed" },
  "dlp-allow": {
    once: "exactly this request, one time",
    run: "every request to that host and port in which the same is found, until the run is stopped",
  },
  "push-allow": { once: "exactly this push, one time" },
  budget: { run: "this run, also when it is resumed" },
};

const HELD_FOR: Readonly<Record<ApprovalScope, string>> = {
  once: "once",
  run: "for the run",
  bottle: "in the bottle's file",
};

/** After `approved`. */
export const scopeWords = (scope: ApprovalScope): string => HELD_FOR[scope];

/** In the order in which the scopes widen. */
export const scopeMeanings = (kind: ProposalKind): [ApprovalScope, string][] =>
  Object.entries(MEANINGS[kind]) as [ApprovalScope, string][];
