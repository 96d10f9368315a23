import type { ClocheEvent } from "../model/event.ts";
import type { ApprovalScope, Proposal, ProposalDetail } from "../model/proposal.ts";
import type { Run } from "../model/run.ts";
import type { Key } from "./key.ts";

/** A proposal as a row of the list has it. */
export type Waiting = Pick<
  Proposal,
  "proposal_id" | "identity" | "workspace_id" | "kind" | "adds" | "created_at" | "expires_at"
>;

export interface Draft {
  readonly proposed: unknown;
  /** What it would add and change, as the daemon says; null until it has. */
  readonly shown: ProposalDetail | null;
}

/** The proposal that is looked at. */
export interface Opened {
  readonly proposalId: string;
  /** Null until the daemon has told it. */
  readonly detail: ProposalDetail | null;
  /** What the operator made of it in the editor. */
  readonly draft: Draft | null;
  /** The first of its lines on the screen. */
  readonly top: number;
  /** So many of its lines have been on the screen, without a gap from the first. */
  readonly readTo: number;
  /** How somebody has answered it meanwhile. */
  readonly outcome: string | null;
}

/** What the operator is asked before something is done. */
export type Question =
  | {
      readonly kind: "reason";
      /** Null: it is to be rejected. */
      readonly scope: ApprovalScope | null;
      readonly text: string;
      readonly problem: string | null;
    }
  | { readonly kind: "stop"; readonly identity: string };

export interface Notice {
  readonly tone: "plain" | "warning";
  readonly text: string;
}

/** All that the screen is made from. */
export interface State {
  /** Oldest first. */
  readonly proposals: readonly Waiting[];
  readonly runs: readonly Run[];
  /** False before the daemon has told them once. */
  readonly isListed: boolean;
  readonly pane: "proposals" | "runs";
  /** By id, so that what arrives or goes moves nothing else under the operator's finger. */
  readonly chosen: string | null;
  readonly chosenRun: string | null;
  /** The first proposal and the first run on the screen. */
  readonly listTop: number;
  readonly runsTop: number;
  readonly opened: Opened | null;
  readonly question: Question | null;
  /** Proposals whose answer is under way. */
  readonly answering: ReadonlySet<string>;
  readonly notice: Notice | null;
  /** Whether the daemon answers. */
  readonly isConnected: boolean;
  readonly showsHelp: boolean;
  readonly cols: number;
  readonly rows: number;
  /** Unix seconds. */
  readonly now: number;
}

/** All that can change it. */
export type Input =
  | { readonly type: "key"; readonly key: Key }
  | { readonly type: "event"; readonly event: ClocheEvent }
  | { readonly type: "listed"; readonly proposals: readonly Waiting[]; readonly runs: readonly Run[] }
  | { readonly type: "runs"; readonly runs: readonly Run[] }
  | { readonly type: "detail"; readonly detail: ProposalDetail }
  | { readonly type: "drafted"; readonly proposalId: string; readonly proposed: unknown }
  /** What would come of that draft. */
  | { readonly type: "draft-shown"; readonly proposed: unknown; readonly detail: ProposalDetail }
  | { readonly type: "answered"; readonly proposal: Proposal }
  /** The daemon would not. `look` when what it would change is another than was shown. */
  | { readonly type: "refused"; readonly proposalId: string; readonly text: string; readonly look: boolean }
  | { readonly type: "notice"; readonly notice: Notice }
  | { readonly type: "connection"; readonly isConnected: boolean }
  | { readonly type: "size"; readonly cols: number; readonly rows: number }
  | { readonly type: "time"; readonly now: number };

/** What is to be done outside; what came of it comes back as an input. */
export type Effect =
  | { readonly type: "load"; readonly proposalId: string }
  | { readonly type: "load-draft"; readonly proposalId: string; readonly proposed: unknown }
  | {
      readonly type: "approve";
      readonly proposalId: string;
      readonly scope: ApprovalScope;
      readonly reason: string | null;
      readonly draft: Draft | null;
      readonly currentHash: string;
    }
  | { readonly type: "reject"; readonly proposalId: string; readonly reason: string }
  | { readonly type: "edit"; readonly detail: ProposalDetail; readonly proposed: unknown }
  | { readonly type: "attach"; readonly identity: string }
  | { readonly type: "stop"; readonly identity: string }
  | { readonly type: "list" }
  | { readonly type: "list-runs" }
  | { readonly type: "quit" };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const step = (state: State, ...effects: Effect[]): Step => ({ state, effects });
export const told = (state: State, text: string, tone: Notice["tone"] = "warning"): Step =>
  step({ ...state, notice: { tone, text } });

export const beginning = (size: { cols: number; rows: number }, now: number): State => ({
  proposals: [],
  runs: [],
  isListed: false,
  pane: "proposals",
  chosen: null,
  chosenRun: null,
  listTop: 0,
  runsTop: 0,
  opened: null,
  question: null,
  answering: new Set(),
  notice: null,
  isConnected: true,
  showsHelp: false,
  ...size,
  now,
});
