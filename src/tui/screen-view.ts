import { PROPOSAL_KINDS } from "../model/proposal-kinds.ts";
import { columnsOf, cut, fill, wrap } from "./columns.ts";
import { detailPage, detailTitle } from "./detail-view.ts";
import { helpLines } from "./help-view.ts";
import { layoutOf, NOTICE, pictureRows, SMALLEST } from "./layout.ts";
import { fit, type Line, line } from "./line.ts";
import { listLines, padded, previewLines, runLines } from "./list-view.ts";
import { NOTHING, show, type Shown } from "./shown.ts";
import type { Opened, Question, State } from "./state.ts";

/** The whole picture: as many lines as the terminal has but one, each within its width. */
export function screenLines(state: State): Line[] {
  const { cols } = state;
  const rows = pictureRows(state);
  if (cols < SMALLEST.cols || rows < SMALLEST.rows - 1)
    return padded(
      [line(show`The terminal is too small: ${SMALLEST.cols} columns and ${SMALLEST.rows} lines.`)],
      Math.max(1, rows),
    ).map((one) => fit(one, cols));
  const body = state.showsHelp ? helpBody(state) : state.opened ? detailBody(state, state.opened) : listBody(state);
  return [...body, ...padded(noticeLines(state), NOTICE), keysLine(state)].map((one) => fit(one, cols));
}

/** Words on the left, and others at the right edge. */
function head(left: Shown, right: Shown, cols: number): Line {
  const room = Math.max(0, cols - columnsOf(right) - 1);
  return line(show`${fill(left, room)} ${right}`, "strong");
}

function listBody(state: State): Line[] {
  const { proposals, runs, cols, chosen, pane, isListed } = state;
  const layout = layoutOf(state);
  const at = proposals.findIndex(({ proposal_id }) => proposal_id === chosen) + 1;
  const place = proposals.length > layout.list ? ` (${at} of ${proposals.length})` : "";
  return [
    head(show`cloche supervise`, connection(state), cols),
    line(show`${pane === "proposals" ? "▸" : " "} Proposals: ${isListed ? proposals.length : "…"}${place}`, "quiet"),
    ...listLines(state, layout),
    ...previewLines(state, layout),
    line(show`${pane === "runs" ? "▸" : " "} Runs: ${isListed ? runs.length : "…"}`, "quiet"),
    ...runLines(state, layout),
  ];
}

function detailBody(state: State, opened: Opened): Line[] {
  const { cols, now } = state;
  const height = layoutOf(state).detail;
  const { lines } = detailPage(opened, cols);
  const shown =
    opened.detail === null ? [line(show`Asking the daemon…`, "quiet")] : lines.slice(opened.top, opened.top + height);
  const below = lines.length - opened.top - height;
  const more = below > 0 ? show`${below} more below` : opened.top > 0 ? show`end` : NOTHING;
  return [head(detailTitle(opened, now), more, cols), ...padded(shown, height)];
}

const helpBody = (state: State): Line[] => [
  head(show`cloche supervise: keys`, NOTHING, state.cols),
  ...padded(helpLines(), layoutOf(state).detail),
];

const connection = ({ isConnected }: State): Shown =>
  isConnected ? show`connected` : show`daemon lost, reconnecting…`;

/** The question that waits, else what happened last. */
function noticeLines(state: State): Line[] {
  const { question, notice, opened, cols, isConnected } = state;
  if (question) return [questionLine(question, cols)];
  if (!isConnected && opened)
    return said(
      notice?.tone === "warning" ? show`${connection(state)} ${notice.text}` : connection(state),
      "warning",
      cols,
    );
  if (opened?.outcome) return said(show`${opened.outcome}`, "warning", cols);
  return notice ? said(show`${notice.text}`, notice.tone, cols) : [];
}

/** As far as there is room. */
function said(words: Shown, tone: "plain" | "warning", cols: number): Line[] {
  const lines = wrap(words, cols);
  const rest = show`${lines.slice(NOTICE - 1).join(" ")}`;
  return [...lines.slice(0, NOTICE - 1), cut(rest, cols)].map((one) => line(one, tone));
}

function questionLine(question: Question, cols: number): Line {
  if (question.kind === "stop") return line(show`Stop the agent of ${question.identity}? y/n`, "warning");
  const words = show`${question.scope === null ? "Reject, because" : "Approve, because"}: `;
  const problem = question.problem === null ? NOTHING : show`  ${question.problem}`;
  // The end of what is typed, where the cursor is.
  const room = Math.max(8, cols - columnsOf(words) - columnsOf(problem) - 1);
  const typed = show`${question.text}`;
  const end =
    columnsOf(typed) <= room
      ? typed
      : show`…${Array.from(typed)
          .slice(-(room - 1))
          .join("")}`;
  return [
    { text: words, tone: "strong" },
    { text: show`${end}_`, tone: "plain" },
    { text: problem, tone: "warning" },
  ];
}

function keysLine(state: State): Line {
  return line(cut(show`${keys(state).join("  ")}`, state.cols), "quiet");
}

function keys({ question, opened, pane, showsHelp, chosenRun, proposals }: State): string[] {
  if (question?.kind === "reason") return ["Enter: answer", "Esc: back", "Ctrl-U: clear"];
  if (question) return ["y: stop it", "n: leave it"];
  if (showsHelp) return ["any key: back"];
  if (opened) return opened.outcome === null ? answers(opened) : ["Esc: back"];
  const common = ["Tab: other pane", "?: help", "q: quit"];
  if (pane === "runs") return [...(chosenRun === null ? [] : ["a: attach", "s: stop"]), ...common];
  return [...(proposals.length === 0 ? [] : ["Enter: look at it"]), ...common];
}

const SCOPE_KEYS = { once: "o: once", run: "r: this run", bottle: "b: bottle file" } as const;

function answers({ detail, draft }: Opened): string[] {
  if (detail === null) return ["Esc: back"];
  const { scopes, editable } = PROPOSAL_KINDS[detail.kind];
  const order = (["once", "run", "bottle"] as const).filter((scope) => (scopes as readonly string[]).includes(scope));
  return [
    `approve ${order.map((scope) => SCOPE_KEYS[scope]).join(" ")}`,
    ...(editable ? ["e: edit"] : []),
    "x: reject",
    draft === null ? "Esc: back" : "Esc: drop the change",
  ];
}
