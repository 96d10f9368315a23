import { onAnswerKey } from "./answer-keys.ts";
import type { Key } from "./key.ts";
import { layoutOf } from "./layout.ts";
import { onQuestionKey } from "./question-keys.ts";
import { type State, type Step, step, told } from "./state.ts";

/** One key that was pressed. What is open on top hears it alone. */
export function onKey(state: State, key: Key): Step {
  if (key.name === "interrupt") return step(state, { type: "quit" });
  if (state.question) return onQuestionKey(state, state.question, key);
  const quiet = { ...state, notice: null };
  if (state.showsHelp) return step({ ...quiet, showsHelp: false });
  // SECURITY: several signs at once were pasted, not typed: they move at most, and answer nothing (G-129)
  const isPasted = key.name === "text" && key.text.length > 1;
  if (isPasted && !/^(j+|k+)$/.test(key.text)) return step(state);
  const moved = move(quiet, key);
  if (moved) return step(moved);
  if (key.name === "text" && key.text === "?") return step({ ...quiet, showsHelp: true });
  if (state.opened) return onAnswerKey(quiet, state.opened, key);
  return state.pane === "runs" ? onRunsKey(quiet, key) : onListKey(quiet, key);
}

/** How far a key moves: lines, or a page, or to an end. */
function distance(key: Key, page: number): number | undefined {
  if (key.name === "text")
    return /^j+$/.test(key.text) ? key.text.length : /^k+$/.test(key.text) ? -key.text.length : edge(key.text);
  if (key.name === "up" || key.name === "down") return key.name === "up" ? -1 : 1;
  if (key.name === "page-up" || key.name === "page-down") return key.name === "page-up" ? -page : page;
  if (key.name === "home" || key.name === "end") return key.name === "home" ? -Infinity : Infinity;
  return undefined;
}

const edge = (text: string): number | undefined => (text === "g" ? -Infinity : text === "G" ? Infinity : undefined);

function move(state: State, key: Key): State | undefined {
  const layout = layoutOf(state);
  const page = state.opened ? layout.detail : state.pane === "runs" ? layout.runs : layout.list;
  const by = key.name === "text" && key.text === " " && state.opened ? page : distance(key, page);
  if (by === undefined) return undefined;
  // Where it ends is seen to when all is known: see `settle`.
  if (state.opened) return { ...state, opened: { ...state.opened, top: state.opened.top + by } };
  if (state.pane === "runs")
    return {
      ...state,
      chosenRun: beside(
        state.runs.map(({ identity }) => identity),
        state.chosenRun,
        by,
      ),
    };
  return {
    ...state,
    chosen: beside(
      state.proposals.map(({ proposal_id: id }) => id),
      state.chosen,
      by,
    ),
  };
}

function beside(ids: readonly string[], chosen: string | null, by: number): string | null {
  const at = Math.max(0, ids.indexOf(chosen ?? ""));
  return ids[Math.max(0, Math.min(ids.length - 1, at + by))] ?? null;
}

function onListKey(state: State, key: Key): Step {
  if (key.name === "tab") return step({ ...state, pane: "runs" });
  if (key.name === "enter" && state.chosen !== null) {
    const opened = { proposalId: state.chosen, detail: null, draft: null, top: 0, readTo: 0, outcome: null };
    return step({ ...state, opened }, { type: "load", proposalId: state.chosen });
  }
  return onLeaveKey(state, key);
}

function onRunsKey(state: State, key: Key): Step {
  if (key.name === "tab" || key.name === "escape") return step({ ...state, pane: "proposals" });
  const run = state.runs.find(({ identity }) => identity === state.chosenRun);
  const asked = key.name === "enter" ? "a" : key.name === "text" ? key.text : undefined;
  if (run && asked === "s") return step({ ...state, question: { kind: "stop", identity: run.identity } });
  if (run && asked === "a")
    return run.has_terminal
      ? step(state, { type: "attach", identity: run.identity })
      : told(state, `${run.identity} has no terminal; \`cloche attach ${run.identity}\` follows what it prints`);
  return onLeaveKey(state, key);
}

const onLeaveKey = (state: State, key: Key): Step =>
  key.name === "text" && key.text === "q" ? step(state, { type: "quit" }) : step(state);
