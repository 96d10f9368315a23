import { detailPage } from "./detail-view.ts";
import { isSame } from "./draft.ts";
import { layoutOf, scrolledTo } from "./layout.ts";
import { decided, onEvent, outcomeWords, without } from "./on-event.ts";
import { onKey } from "./on-key.ts";
import { type Input, type Opened, type State, type Step, step, told, type Waiting } from "./state.ts";
import type { Run } from "../model/run.ts";

/** What comes of one input: the next state, and what is to be done. Nothing else happens here. */
export function reduce(state: State, input: Input): Step {
  const { state: next, effects } = changed(state, input);
  return { state: settle(next), effects };
}

function changed(state: State, input: Input): Step {
  switch (input.type) {
    case "key":
      return onKey(state, input.key);
    case "event":
      return onEvent(state, input.event);
    case "listed":
      return step(listed(state, input.proposals, input.runs));
    case "runs":
      return step({ ...state, runs: input.runs });
    case "detail":
      return loaded(state, input);
    case "drafted":
      return drafted(state, input);
    case "draft-shown":
      return draftShown(state, input);
    case "answered": {
      const { proposal } = input;
      const next = decided(state, proposal.proposal_id, outcomeWords(proposal), true);
      // Who answered it goes on with the next.
      return step(next.opened?.proposalId === proposal.proposal_id ? { ...next, opened: null } : next);
    }
    case "refused":
      return refused(state, input);
    case "notice":
      return step({ ...state, notice: input.notice });
    case "connection":
      return step({ ...state, isConnected: input.isConnected });
    case "size":
      return step(resized(state, input));
    case "time":
      return step({ ...state, now: input.now });
  }
}

/** All there is now. Of what is no longer there, nobody knows how it was answered. */
function listed(state: State, proposals: readonly Waiting[], runs: readonly Run[]): State {
  const oldestFirst = [...proposals].sort((one, other) => one.created_at - other.created_at);
  const { opened } = state;
  const isGone = opened?.outcome === null && !proposals.some(({ proposal_id: id }) => id === opened.proposalId);
  return {
    ...state,
    proposals: oldestFirst,
    runs,
    isListed: true,
    opened: isGone ? { ...opened, outcome: `${opened.proposalId} was answered meanwhile` } : opened,
  };
}

function loaded(state: State, { detail }: Extract<Input, { type: "detail" }>): Step {
  const { opened } = state;
  if (opened?.proposalId !== detail.proposal_id) return step(state);
  const outcome = detail.status === "pending" ? opened.outcome : outcomeWords(detail);
  const { draft } = opened;
  // What was read before was another.
  const next: State = {
    ...state,
    opened: { ...opened, detail, draft: draft && { ...draft, shown: null }, top: 0, readTo: 0, outcome },
  };
  if (draft === null || outcome !== null) return step(next);
  return step(next, { type: "load-draft", proposalId: opened.proposalId, proposed: draft.proposed });
}

function drafted(state: State, { proposalId, proposed }: Extract<Input, { type: "drafted" }>): Step {
  const { opened } = state;
  if (opened?.detail?.proposal_id !== proposalId) return step(state);
  if (isSame(proposed, opened.detail.proposed))
    return told(
      { ...state, opened: { ...opened, draft: null, top: 0, readTo: 0 } },
      "Nothing was changed, and nothing was approved",
      "plain",
    );
  const next: State = {
    ...state,
    opened: { ...opened, draft: { proposed, shown: null }, top: 0, readTo: 0 },
    notice: { tone: "plain", text: "Changed. Asking the daemon what it adds now" },
  };
  return step(next, { type: "load-draft", proposalId, proposed });
}

function draftShown(state: State, { proposed, detail }: Extract<Input, { type: "draft-shown" }>): Step {
  const { opened } = state;
  // Another draft may have come meanwhile.
  if (opened?.proposalId !== detail.proposal_id || opened.draft?.proposed !== proposed) return step(state);
  const next = { ...state, opened: { ...opened, draft: { proposed, shown: detail }, top: 0, readTo: 0 } };
  return told(next, "Changed. Approve it now, edit it again, or drop it with Esc", "plain");
}

function refused(state: State, { proposalId, text, look }: Extract<Input, { type: "refused" }>): Step {
  const next: State = {
    ...state,
    answering: without(state.answering, proposalId),
    notice: { tone: "warning", text },
  };
  const isOpen = state.opened?.proposalId === proposalId && state.opened.outcome === null;
  return isOpen && look ? step(next, { type: "load", proposalId }) : step(next);
}

/** Another width makes other lines: what was read of them is not known. */
function resized(state: State, { cols, rows }: { readonly cols: number; readonly rows: number }): State {
  const opened = state.opened && cols !== state.cols ? { ...state.opened, top: 0, readTo: 0 } : state.opened;
  return { ...state, cols, rows, opened };
}

/** What has to hold whatever came: something is chosen where there is something, it is on the screen, and nothing is scrolled past its end. */
function settle(state: State): State {
  const layout = layoutOf(state);
  const { proposals, runs, opened } = state;
  const at = proposals.findIndex(({ proposal_id: id }) => id === state.chosen);
  const runAt = runs.findIndex(({ identity }) => identity === state.chosenRun);
  return {
    ...state,
    chosen: at < 0 ? (proposals[0]?.proposal_id ?? null) : state.chosen,
    listTop: scrolledTo(state.listTop, Math.max(0, at), layout.list, proposals.length),
    chosenRun: runAt < 0 ? (runs[0]?.identity ?? null) : state.chosenRun,
    runsTop: scrolledTo(state.runsTop, Math.max(0, runAt), layout.runs, runs.length),
    opened: opened && settledDetail(opened, layout.detail, state.cols),
  };
}

function settledDetail(opened: Opened, height: number, cols: number): Opened {
  const { lines } = detailPage(opened, cols);
  const top = Math.max(0, Math.min(opened.top, lines.length - height));
  return { ...opened, top, readTo: top <= opened.readTo ? Math.max(opened.readTo, top + height) : opened.readTo };
}
