import { type ApprovalScope, proposalKindRow } from "../model/proposal-kinds.ts";
import type { ProposalDetail } from "../model/proposal.ts";
import { detailPage } from "./detail-view.ts";
import type { Key } from "./key.ts";
import { type Opened, type State, type Step, step, told } from "./state.ts";

const SCOPES: Readonly<Record<string, ApprovalScope>> = { o: "once", r: "run", b: "bottle" };
const SCOPE_WORDS: Readonly<Record<ApprovalScope, string>> = {
  once: "once",
  run: "for the run",
  bottle: "into the bottle's file",
};

/** A key at a proposal that is looked at. */
export function onAnswerKey(state: State, opened: Opened, key: Key): Step {
  if (key.name === "escape" || (key.name === "text" && key.text === "q")) return goBack(state, opened);
  if (key.name !== "text") return step(state);
  const scope = SCOPES[key.text];
  if (scope === undefined && key.text !== "x" && key.text !== "e") return step(state);
  const { detail } = opened;
  if (opened.outcome !== null || detail === null) return step(state);
  if (state.answering.has(opened.proposalId)) return told(state, "It is being answered: wait for what comes of it");
  if (!state.isConnected) return told(state, "The daemon is lost: wait until it is back");
  if (key.text === "x") return ask(state, null);
  if (key.text === "e") return edit(state, opened, detail);
  return scope === undefined ? step(state) : approve(state, opened, detail, scope);
}

/** First what was changed here is let go, then the proposal is left. */
function goBack(state: State, opened: Opened): Step {
  if (opened.draft === null || opened.outcome !== null) return step({ ...state, opened: null });
  return step({ ...state, opened: { ...opened, draft: null, top: 0, readTo: 0 } });
}

function edit(state: State, { draft }: Opened, detail: ProposalDetail): Step {
  if (!proposalKindRow(detail.kind).editable)
    return told(state, "It cannot be changed: it is about exactly what is held");
  return step(state, { type: "edit", detail, proposed: draft === null ? detail.proposed : draft.proposed });
}

function approve(state: State, opened: Opened, detail: ProposalDetail, scope: ApprovalScope): Step {
  const { scopes, needs_reason: needsReason } = proposalKindRow(detail.kind);
  if (!scopes.includes(scope)) {
    const ways = scopes.map((one) => SCOPE_WORDS[one]).join(" or ");
    return told(state, `A proposal of this kind is not approved ${SCOPE_WORDS[scope]}, but ${ways}`);
  }
  // SECURITY: what the operator typed is approved after cloche has said what it adds (G-123)
  if (opened.draft !== null && opened.draft.shown === null)
    return told(state, "What it adds now is not known: edit it again, or drop it with Esc");
  // SECURITY: nothing is approved that was below the edge of the screen (G-129)
  if (opened.readTo < detailPage(opened, state.cols).changeEnd)
    return told(state, "There is more that it changes: go down to its end first (PgDn)");
  return needsReason ? ask(state, scope) : sent(state, opened, detail, scope, null);
}

const ask = (state: State, scope: ApprovalScope | null): Step =>
  step({ ...state, question: { kind: "reason", scope, text: "", problem: null } });

/** SECURITY: an approval names the state of the policy that was on the screen (G-129). */
export function sent(
  state: State,
  { proposalId, draft }: Opened,
  detail: ProposalDetail,
  scope: ApprovalScope,
  reason: string | null,
): Step {
  return step(
    {
      ...state,
      answering: new Set([...state.answering, proposalId]),
      notice: { tone: "plain", text: `Approving ${proposalId}; the agent is told when it holds` },
    },
    { type: "approve", proposalId, scope, reason, draft, currentHash: (draft?.shown ?? detail).current_hash },
  );
}
