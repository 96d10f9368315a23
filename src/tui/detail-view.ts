import { formatAge } from "../base/duration.ts";
import { PROPOSAL_KINDS } from "../model/proposal-kinds.ts";
import { scopeMeanings } from "../model/scope-words.ts";
import type { ProposalDetail } from "../model/proposal.ts";
import { wrap } from "./columns.ts";
import { toYaml } from "./draft.ts";
import { SMALLEST } from "./layout.ts";
import { type Line, line, type Tone } from "./line.ts";
import { type DiffLine, diffLines } from "./line-diff.ts";
import { NOTHING, show, type Shown, showLines } from "./shown.ts";
import type { Opened } from "./state.ts";

/** One proposal as lines, of any height. */
export interface DetailPage {
  readonly lines: readonly Line[];
  /** So many of them are what it changes; what somebody says about it comes after. */
  readonly changeEnd: number;
}

const NO_LINE: Line = line(NOTHING);
/** Unchanged lines around a change. */
const CONTEXT = 3;

let last: { readonly detail: ProposalDetail; readonly draft: Opened["draft"]; readonly cols: number; page: DetailPage };

/** The lines of what is open; none before the daemon has told it. Made once for as long as it stays the same. */
export function detailPage({ detail, draft }: Opened, columns: number): DetailPage {
  if (detail === null) return { lines: [], changeEnd: 0 };
  const cols = Math.max(columns, SMALLEST.cols);
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- there is none at first
  if (last?.detail !== detail || last.draft !== draft || last.cols !== cols)
    last = { detail, draft, cols, page: makePage(detail, draft, cols) };
  return last.page;
}

/** SECURITY: what cloche says it changes comes first, whole, and the agent's words after it, each line marked as theirs (G-129). */
function makePage(detail: ProposalDetail, draft: Opened["draft"], cols: number): DetailPage {
  const { proposed, command, justification, kind } = detail;
  // Of what the operator made of it, as soon as it is known.
  const shown = draft === null ? detail : draft.shown;
  const change = [
    ...(shown ? [...heading("It adds"), ...text(shown.adds, cols, "strong")] : []),
    ...(draft !== null ? [...heading("What you made of it"), ...diff(proposed, draft.proposed, cols)] : []),
    ...(shown && shown.after !== null
      ? [...heading("Change of the policy"), ...diff(shown.current, shown.after, cols)]
      : draft === null
        ? [...heading("What is asked"), ...yaml(proposed, cols)]
        : []),
  ];
  const said = [
    ...(command === null ? [] : [...heading("Caused by"), ...text(command, cols)]),
    ...heading(PROPOSAL_KINDS[kind].raised_by === "agent" ? "What the agent says" : "What the gate says"),
    ...quoted(justification, cols),
    ...heading("Approved, it holds for"),
    ...scopeMeanings(kind).flatMap(([scope, meaning]) => text(`${scope}: ${meaning}`, cols)),
  ];
  // Without the empty line above the first heading.
  const lines = [...change, ...said].slice(1);
  return { lines, changeEnd: change.length - 1 };
}

const heading = (words: string): Line[] => [NO_LINE, line(show`${words}`, "quiet")];

const text = (words: string, cols: number, tone: Tone = "plain"): Line[] =>
  showLines(words).flatMap((one) => wrap(one, cols).map((part) => line(part, tone)));

const quoted = (words: string, cols: number): Line[] =>
  showLines(words).flatMap((one) =>
    wrap(one, cols - 2).map((part): Line => [
      { text: show`│ `, tone: "quiet" },
      { text: part, tone: "plain" },
    ]),
  );

const yamlLines = (value: unknown): string[] =>
  value === null || value === undefined ? [] : toYaml(value).trimEnd().split("\n");

const yaml = (value: unknown, cols: number): Line[] => yamlLines(value).flatMap((one) => text(one, cols));

function diff(before: unknown, after: unknown, cols: number): Line[] {
  const lines = diffLines(yamlLines(before), yamlLines(after));
  if (lines.every(({ sign }) => sign === " ")) return text("It stays as it is.", cols);
  return hunks(lines).flatMap((one) => ("skipped" in one ? [skipped(one.skipped)] : signed(one, cols)));
}

const TONES = { "+": "added", "-": "removed", " ": "quiet" } as const satisfies Record<DiffLine["sign"], Tone>;

const signed = ({ sign, text: words }: DiffLine, cols: number): Line[] =>
  wrap(show`${words}`, cols - 2).map((part, at): Line => line(show`${at === 0 ? sign : " "} ${part}`, TONES[sign]));

const skipped = (count: number): Line => line(show`  … ${count} lines that stay as they are`, "quiet");

/** Long stretches without a change are told by their length. */
function hunks(lines: readonly DiffLine[]): (DiffLine | { readonly skipped: number })[] {
  const near = new Set<number>();
  for (const [at, { sign }] of lines.entries())
    if (sign !== " ") for (let one = at - CONTEXT; one <= at + CONTEXT; one++) near.add(one);
  const result: (DiffLine | { skipped: number })[] = [];
  for (const [at, one] of lines.entries()) {
    const before = result.at(-1);
    if (near.has(at)) result.push(one);
    else if (before && "skipped" in before) before.skipped += 1;
    else result.push({ skipped: 1 });
  }
  return result;
}

/** The head of the screen while a proposal is looked at. */
export function detailTitle(opened: Opened, now: number): Shown {
  const { detail, proposalId } = opened;
  if (detail === null) return show`${proposalId}`;
  const { kind, identity, created_at: created, expires_at: expires } = detail;
  const left = expires - now;
  const end = left > 0 ? `over in ${formatAge(left)}` : "its time is over";
  return show`${proposalId}  ${kind}  ${identity}  ${formatAge(now - created)} old, ${end}`;
}
