import { formatAge } from "../base/duration.ts";
import { cut, fill, wrap } from "./columns.ts";
import type { Layout } from "./layout.ts";
import { type Line, line } from "./line.ts";
import { NOTHING, show } from "./shown.ts";
import type { State, Waiting } from "./state.ts";

const AGE = 4;
const KIND = 16;

/** The proposals that are on the screen: a window of them, however many there are. */
export function listLines(state: State, layout: Layout): Line[] {
  const shown = state.proposals.slice(state.listTop, state.listTop + layout.list);
  const lines = shown.length === 0 ? [line(emptyWords(state), "quiet")] : shown.map((one) => row(one, state));
  return padded(lines, layout.list);
}

const emptyWords = ({ isListed, isConnected }: State) =>
  isListed ? show`  Nobody asks for anything.` : isConnected ? show`  Asking the daemon…` : NOTHING;

function row(proposal: Waiting, { chosen, pane, now, cols, answering }: State): Line {
  const isChosen = proposal.proposal_id === chosen && pane === "proposals";
  const run = Math.max(8, Math.min(20, Math.floor(cols / 5)));
  const age = fill(show`${formatAge(now - proposal.created_at)}`, AGE);
  const before = show`${isChosen ? ">" : " "} ${age} ${fill(show`${proposal.identity}`, run)} `;
  const kind = show`${fill(show`${proposal.kind}`, KIND)} `;
  const adds = answering.has(proposal.proposal_id) ? show`(being answered) ${proposal.adds}` : show`${proposal.adds}`;
  const text = fill(show`${before}${kind}${adds}`, cols);
  return line(text, isChosen ? "chosen" : "plain");
}

/** The whole sentence of the chosen one, as far as there is room. */
export function previewLines({ proposals, chosen, cols }: State, { preview }: Layout): Line[] {
  if (preview === 0) return [];
  const one = proposals.find(({ proposal_id }) => proposal_id === chosen);
  const lines = one ? wrap(show`${one.adds}`, cols - 2) : [];
  const cutOff = lines.length > preview;
  const shown = lines.slice(0, preview).map((part, at) => {
    const text = cutOff && at === preview - 1 ? cut(show`${part} … (Enter shows all)`, cols - 2) : part;
    return line(show`  ${text}`, "strong");
  });
  return [line(show`${"─".repeat(cols)}`, "quiet"), ...padded(shown, preview)];
}

/** The runs whose agents work. */
export function runLines(state: State, layout: Layout): Line[] {
  const { runs, chosenRun, pane, now, cols, runsTop } = state;
  const shown = runs.slice(runsTop, runsTop + layout.runs);
  if (shown.length === 0)
    return padded([line(state.isListed ? show`  No agent works.` : NOTHING, "quiet")], layout.runs);
  const lines = shown.map((run): Line => {
    const isChosen = run.identity === chosenRun && pane === "runs";
    const asks = state.proposals.filter(({ identity }) => identity === run.identity).length;
    const facts = [
      run.agent_name,
      `on ${run.backend}`,
      `for ${formatAge(now - run.started_at)}`,
      ...(run.label === null ? [] : [run.label]),
      ...(asks === 0 ? [] : [`asks for ${asks}`]),
      ...(run.has_terminal ? [] : ["without a terminal"]),
    ];
    const text = show`${isChosen ? ">" : " "} ${run.identity}  ${facts.join(" · ")}`;
    return line(fill(text, cols), isChosen ? "chosen" : "plain");
  });
  return padded(lines, layout.runs);
}

export const padded = (lines: readonly Line[], height: number): Line[] =>
  Array.from({ length: height }, (_, at) => lines[at] ?? line(NOTHING));
