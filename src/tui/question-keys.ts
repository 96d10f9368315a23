import { MAX_REASON } from "../model/proposal-kinds.ts";
import { sent } from "./answer-keys.ts";
import type { Key } from "./key.ts";
import { type Question, type State, type Step, step } from "./state.ts";

type ReasonQuestion = Extract<Question, { kind: "reason" }>;

/** A key while something is asked. */
export function onQuestionKey(state: State, question: Question, key: Key): Step {
  if (key.name === "escape") return step({ ...state, question: null });
  if (question.kind === "reason") return key.name === "enter" ? answer(state, question) : type(state, question, key);
  if (key.name !== "text") return step(state);
  const left = { ...state, question: null };
  return key.text === "y" || key.text === "Y"
    ? step(
        { ...left, notice: { tone: "plain", text: `Stopping ${question.identity}` } },
        { type: "stop", identity: question.identity },
      )
    : step(left);
}

function type(state: State, question: ReasonQuestion, key: Key): Step {
  const write = (text: string): Step => step({ ...state, question: { ...question, text, problem: null } });
  if (key.name === "clear") return write("");
  if (key.name === "backspace") return write(Array.from(question.text).slice(0, -1).join(""));
  if (key.name !== "text") return step(state);
  // A pasted reason may have line ends; it is one line.
  const typed = question.text + key.text.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "");
  return typed.length > MAX_REASON
    ? step({ ...state, question: { ...question, problem: "It is long enough" } })
    : write(typed);
}

function answer(state: State, question: ReasonQuestion): Step {
  const { opened } = state;
  const reason = question.text.trim();
  if (reason === "") return step({ ...state, question: { ...question, problem: "Say why: it needs a reason" } });
  const asked = { ...state, question: null };
  if (!opened?.detail) return step(asked);
  if (question.scope !== null) return sent(asked, opened, opened.detail, question.scope, reason);
  return step(
    { ...asked, answering: new Set([...state.answering, opened.proposalId]) },
    { type: "reject", proposalId: opened.proposalId, reason },
  );
}
