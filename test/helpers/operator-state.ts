import type { ClocheEvent, EventKind, EventPayloads } from "../../src/model/event.ts";
import type { ProposalDetail } from "../../src/model/proposal.ts";
import type { Run } from "../../src/model/run.ts";
import type { Key } from "../../src/tui/key.ts";
import { reduce } from "../../src/tui/reduce.ts";
import { screenLines } from "../../src/tui/screen-view.ts";
import { beginning, type Effect, type Input, type State } from "../../src/tui/state.ts";

export const NOW = 1_800_000_000;
const PROPOSED = { routes: [{ host: "docs.example.com" }] };

/** A proposal as the daemon shows it. */
export const proposalOf = (number: number, changes: Partial<ProposalDetail> = {}): ProposalDetail => ({
  proposal_id: `p-${String(number).padStart(10, "0")}`,
  identity: "reviewer-k3x9a",
  workspace_id: "ws-0000000001",
  agent_name: "reviewer",
  bottle_names: ["dev"],
  kind: "egress-block",
  justification: "The tests read the manual.",
  proposed: PROPOSED,
  adds: "Requests to docs.example.com may go out.",
  command: "GET https://docs.example.com/",
  content_hash: "c",
  current_hash: `h-${number}`,
  created_at: NOW - 1000 + number,
  expires_at: NOW + 3600,
  status: "pending",
  decided_at: null,
  decided_by: null,
  reason: null,
  scope: null,
  current: [],
  after: PROPOSED.routes,
  ...changes,
});

export const runOf = (identity: string, changes: Partial<Run> = {}): Run => ({
  identity,
  agent_name: "reviewer",
  backend: "container",
  environment: "host",
  state: "running",
  started_at: NOW - 60,
  label: null,
  color: null,
  bottle_names: ["dev"],
  workspace_id: "ws-0000000001",
  has_terminal: true,
  exit_code: null,
  committed_at: null,
  ...changes,
});

export function eventOf<Kind extends EventKind>(kind: Kind, told: EventPayloads[Kind]): ClocheEvent {
  const head = { sequence: 1, time: NOW, kind, workspace_id: "ws-0000000001", identity: "reviewer-k3x9a" };
  return { ...head, ...told } as unknown as ClocheEvent;
}

/** Keys by their name; all else is typed. */
const NAMES = ["up", "down", "page-up", "page-down", "home", "end", "enter", "escape", "tab", "backspace", "clear"];
const toKey = (key: string): Key => (NAMES.includes(key) ? { name: key } : { name: "text", text: key }) as Key;

/** Plays inputs one after the other, without a terminal and without a daemon. */
export class PlayedOperator {
  state: State;
  readonly effects: Effect[] = [];

  constructor(size: { cols: number; rows: number } = { cols: 80, rows: 24 }) {
    this.state = beginning(size, NOW);
  }

  send(...inputs: Input[]): this {
    for (const input of inputs) {
      const { state, effects } = reduce(this.state, input);
      this.state = state;
      this.effects.push(...effects);
    }
    return this;
  }

  press(...keys: string[]): this {
    return this.send(...keys.map((key): Input => ({ type: "key", key: toKey(key) })));
  }

  list(proposals: readonly ProposalDetail[], runs: readonly Run[] = []): this {
    return this.send({ type: "listed", proposals, runs });
  }

  /** Has a proposal on the screen as the daemon tells it. */
  open(detail: ProposalDetail): this {
    return this.list([detail]).press("enter").send({ type: "detail", detail });
  }

  get lines(): string[] {
    return screenLines(this.state).map((line) => line.map(({ text }) => text).join(""));
  }

  get screen(): string {
    return this.lines.join("\n");
  }
}
