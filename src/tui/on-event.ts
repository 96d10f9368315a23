import { BUDGET_WORDS } from "../model/budget.ts";
import type { ClocheEvent, EventKind, EventOf } from "../model/event.ts";
import { scopeWords } from "../model/scope-words.ts";
import { type State, type Step, step, type Waiting } from "./state.ts";

/** What is watched. */
export const WATCHED_KINDS = [
  "proposal.created",
  "proposal.decided",
  "proposal.failed",
  "budget.near",
  "run.started",
  "run.done",
  "run.ended",
] as const satisfies readonly EventKind[];

/** What the daemon told while it happened. An event that comes twice changes nothing more. */
export function onEvent(state: State, event: ClocheEvent): Step {
  switch (event.kind) {
    case "proposal.created":
      return step(withProposal(state, toWaiting(event)));
    case "proposal.decided":
      return step(decided(state, event.proposal_id, outcomeWords(event), event.status !== "expired"));
    case "proposal.failed":
      return step({
        ...state,
        answering: without(state.answering, event.proposal_id),
        notice: { tone: "warning", text: `${event.proposal_id} could not be applied, and waits on: ${event.reason}` },
      });
    case "budget.near": {
      const { resource, used, limit } = event;
      const text = `${who(event)} has used ${used} of ${limit} ${BUDGET_WORDS[resource]}: when they are gone, it asks for more`;
      return step({ ...state, notice: { tone: "warning", text } });
    }
    case "run.done":
      return step({
        ...state,
        notice: { tone: "plain", text: `${who(event)} says that it is done: ${event.summary}` },
      });
    case "run.started":
      return step(state, { type: "list-runs" });
    case "run.ended":
      return step({ ...state, runs: state.runs.filter(({ identity }) => identity !== event.identity) });
    case "log.gap":
      return step(state, { type: "list" });
    default:
      return step(state);
  }
}

const who = ({ identity, workspace_id }: ClocheEvent): string => identity ?? workspace_id ?? "A run";

const toWaiting = (event: EventOf<"proposal.created">): Waiting => ({
  proposal_id: event.proposal_id,
  identity: event.identity ?? event.workspace_id ?? "",
  workspace_id: event.workspace_id ?? "",
  kind: event.proposal_kind,
  adds: event.adds,
  created_at: event.time,
  expires_at: event.expires_at,
});

function withProposal(state: State, proposal: Waiting): State {
  if (state.proposals.some(({ proposal_id: id }) => id === proposal.proposal_id)) return state;
  return { ...state, proposals: [...state.proposals, proposal] };
}

/** It is answered, by whomever: it leaves the list, and who looks at it is told. */
export function decided(state: State, proposalId: string, outcome: string, tells: boolean): State {
  const { proposals, opened, question } = state;
  const isOpen = opened?.proposalId === proposalId;
  const at = proposals.findIndex(({ proposal_id: id }) => id === proposalId);
  const rest = at < 0 ? proposals : proposals.filter((_, index) => index !== at);
  return {
    ...state,
    proposals: rest,
    // The one that takes its place on the screen.
    chosen: state.chosen === proposalId ? (rest[Math.min(at, rest.length - 1)]?.proposal_id ?? null) : state.chosen,
    opened: isOpen ? { ...opened, outcome } : opened,
    question: isOpen && question?.kind === "reason" ? null : question,
    answering: without(state.answering, proposalId),
    notice: tells ? { tone: "plain", text: outcome } : state.notice,
  };
}

/** `p-… was approved for the run by ann`. */
export function outcomeWords({
  proposal_id: id,
  status,
  scope,
  decided_by: by,
  reason,
}: Pick<EventOf<"proposal.decided">, "proposal_id" | "scope" | "decided_by" | "reason"> & { status: string }): string {
  if (status === "expired") return `${id} is over: nobody answered in time`;
  const held = scope === null ? "" : ` ${scopeWords(scope)}`;
  return `${id} was ${status}${held}${by === null ? "" : ` by ${by}`}${reason === null ? "" : `: ${reason}`}`;
}

export const without = <Item>(items: ReadonlySet<Item>, item: Item): ReadonlySet<Item> =>
  items.has(item) ? new Set([...items].filter((one) => one !== item)) : items;
