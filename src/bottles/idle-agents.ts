import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { Turns } from "../base/turns.ts";
import type { EventOf } from "../model/event.ts";
import { type Proposal, PROPOSAL_ID, PUSH_WAIT_SECONDS, WAIT_SECONDS } from "../model/proposal.ts";
import { findRunningShell } from "../workspaces/shells/find-shell.ts";
import type { ActiveRun } from "./active-run.ts";
import { findProvider } from "./find-provider.ts";
import { planAgain } from "./plan-again.ts";
import type { RunParts } from "./run-parts.ts";
import type { Runs } from "./runs.ts";

/** An agent whose terminal shows nothing for so long waits for somebody: one at work shows at least that it works. */
const QUIET_MS = 5000;
/** One that is at work for longer hears it with its next call. */
const PATIENCE_MS = 60_000;
/** Programs take what comes at once for a paste, in which Enter is a new line. */
const BEFORE_ENTER_MS = 300;

type Decided = Pick<EventOf<"proposal.decided">, "proposal_id" | "proposal_kind" | "status">;

/** Whether whoever asked was told `pending` before the answer came. */
export const wasPending = ({ kind, created_at, decided_at }: Pick<Proposal, "kind" | "created_at" | "decided_at">) =>
  decided_at !== null && decided_at - created_at >= (kind === "push-allow" ? PUSH_WAIT_SECONDS : WAIT_SECONDS);

/**
 * What an agent is told; undefined for what it hears in another way, or not at all. SECURITY: it is typed at a terminal, so every word of it is cloche's: an id of a known form and the name of a kind,
 * never a text of the agent's, of a guest's or of a proposal (G-136)
 */
export function lineFor({ proposal_id: id, proposal_kind: kind, status }: Decided): string | undefined {
  if (!PROPOSAL_ID.test(id)) return undefined;
  if (status === "rejected")
    return `cloche: the operator rejected ${kind} proposal ${id}. Ask again in the same way to read why, or go on without it.`;
  // A run that was given another environment was started again in it, and told.
  if (kind === "capability-block" || (status !== "approved" && status !== "modified")) return undefined;
  return `cloche: the operator approved ${kind} proposal ${id}${status === "modified" ? ", with changes" : ""}. Try again what it was for.`;
}

/**
 * Tells an agent that waits at its prompt what the operator decided after its call was answered as pending: a line is typed at its terminal. It follows the log of events
 * like any other watcher. Without a terminal nothing is typed, and the next call returns the decision.
 */
export class IdleAgents {
  readonly #parts: RunParts;
  readonly #runs: Runs;
  readonly #end = new AbortController();
  readonly #turns = new Turns();
  readonly #following: Promise<void>;

  constructor(parts: RunParts, runs: Runs) {
    this.#parts = parts;
    this.#runs = runs;
    this.#following = this.#follow();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { events, log } = this.#parts.deps;
    try {
      const kinds = new Set(["proposal.decided"] as const);
      for await (const page of events.follow(events.bounds().newest, { kinds }, this.#end.signal))
        for (const event of page.events) if (event.kind === "proposal.decided") this.#take(event);
    } catch (error) {
      log.error("no idle agent is told of a decision any more", { reason: messageOf(error) });
    }
  }

  /** Never rejects. One line at a time. */
  #take(event: EventOf<"proposal.decided">): void {
    const { deps } = this.#parts;
    const { identity, proposal_id: proposal } = event;
    const stored = deps.store.findProposal(proposal);
    const line = lineFor(event);
    if (identity === null || !stored || !wasPending(stored) || line === undefined) return;
    this.#turns
      .take(identity, () => this.#tell(identity, line))
      .catch((error: unknown) => {
        if (this.#end.signal.aborted) return;
        deps.log.warn("an idle agent could not be told of a decision", {
          identity,
          proposal,
          reason: messageOf(error),
        });
      });
  }

  async #tell(identity: string, line: string): Promise<void> {
    const { deps, shells } = this.#parts;
    const { signal } = this.#end;
    const run = this.#runs.find(identity);
    if (run?.session.kind !== "shell" || !(await this.#takesLines(run)) || !(await this.#isQuiet(run))) return;
    const { live, session } = run;
    const terminal = { workspace_id: live.workspaceId, shell_id: session.shell_id };
    // What somebody has begun to type is not sent off for them.
    if (run.isHalfTyped) return;
    await shells.write(live, { ...terminal, input: line, append_newline: false });
    await sleep(BEFORE_ENTER_MS, undefined, { signal });
    await shells.write(live, { ...terminal, input: "", append_newline: true });
    deps.log.info("an idle agent was told of a decision", { identity });
  }

  async #takesLines({ metadata, manifest }: ActiveRun): Promise<boolean> {
    const { deps } = this.#parts;
    const { agent_provision } = await planAgain(deps, metadata, { manifest });
    return (await findProvider(deps.home, agent_provision.provider)).takes_lines === true;
  }

  async #isQuiet({ live, session }: ActiveRun): Promise<boolean> {
    if (session.kind !== "shell") return false;
    const shown = async () => (await findRunningShell(this.#parts.deps, live, session.shell_id)).info.stdout.end;
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline;) {
      const before = await shown();
      await sleep(QUIET_MS, undefined, { signal: this.#end.signal });
      if ((await shown()) === before) return true;
    }
    return false;
  }
}
