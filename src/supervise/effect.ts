import type { ReportProgress } from "../model/progress.ts";
import type { ApprovalScope, ProposalKind, Proposed } from "../model/proposal.ts";
import type { Route } from "../model/egress.ts";

/** Who asks. What is known of a run is written down with the proposal, which outlives it. */
export interface Subject {
  readonly workspace_id: string;
  /** The run; of a workspace without one, its id. */
  readonly identity: string;
  readonly agent_name: string | null;
  readonly bottle_names: readonly string[];
}

/** What a proposal is about, as it is now. */
export interface Look {
  /** The part of the policy that it changes. An approval is bound to its hash. */
  readonly current: unknown;
  /** The same with what is proposed; null where an approval leaves it as it is. */
  readonly after: unknown;
  /** Those that decide for its hosts, where it has any. */
  readonly routes: readonly Route[];
  /** Those of the file into which an approval may be written, where it has any. */
  readonly bottleRoutes?: readonly Route[] | undefined;
  /** Of a budget: what the run may use now; null where it has no such limit. */
  readonly limit?: number | null;
}

/** What an approval of one kind does. */
export interface Effect<Kind extends ProposalKind = ProposalKind> {
  look(subject: Subject, proposed: Proposed<Kind>): Look;
  /** Whether what an approval gave a run is there still, and asking for it again would change nothing. Without it, an approval is used up. */
  holds?(subject: Subject, proposed: Proposed<Kind>): boolean;
  /** Does it, has it confirmed, and settles it. When it throws, everything is as it was. */
  apply(subject: Subject, proposed: Proposed<Kind>, scope: ApprovalScope, answer: Settlement): Promise<void>;
}

/** How an approval becomes an answer. */
export interface Settlement {
  /** For what tells of the change: which proposal it is for, and who approved that, a user or a rule. */
  readonly by: { readonly proposal_id: string; readonly decided_by: string };
  /** Why, in the words of whoever approved. */
  readonly reason: string | null;
  /** At a moment at which nobody else changes what it is about. Throws when that is not what was shown. */
  readonly check: () => void;
  /** Once, and last of all: writes down the answer, and in the same transaction what `write` does to the store. */
  readonly settle: (write?: () => void) => void;
  /** Of what takes long, to whoever approves. */
  readonly progress: ReportProgress;
}

export type Effects = { readonly [Kind in ProposalKind]: Effect<Kind> };

/** What was held goes on, or passes when it comes again: the gate does it when it hears the answer, and no policy changes. */
export function letPass<Kind extends ProposalKind>(requireGate: (subject: Subject) => void): Effect<Kind> {
  return {
    look: () => ({ current: null, after: null, routes: [] }),
    apply: async (subject, _proposed, _scope, { check, settle }) => {
      requireGate(subject);
      check();
      settle();
      await Promise.resolve();
    },
  };
}
