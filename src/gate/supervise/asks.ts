import { randomName } from "../../base/ids.ts";
import { onAbort } from "../../base/on-abort.ts";
import type { GateAnswer, GateAsk } from "../../model/gate-control.ts";
import {
  type ApprovalScope,
  MAX_JUSTIFICATION,
  MAX_PENDING_PER_RUN,
  MAX_PROPOSALS_PER_HOUR,
  MAX_PROPOSED_BYTES,
  PROPOSAL_SECONDS,
  type ProposalKind,
  type ProposalStatus,
} from "../../model/proposal-kinds.ts";
import { contentHash } from "../../policy/supervise/content-hash.ts";

/** What somebody in the sandbox, or the gate itself, wants to be decided. */
export interface Asked {
  readonly kind: ProposalKind;
  readonly justification: string;
  /** As `PROPOSED` has it for that kind. */
  readonly proposed: unknown;
  readonly command?: string | null;
}

export interface AskAnswer {
  readonly proposal_id: string;
  /** `pending`: the wait ran out, or an approval could not be applied and `reason` says why. Neither is a rejection. */
  readonly status: ProposalStatus;
  readonly reason: string | null;
  /** As it was approved, where the operator changed it; else null. */
  readonly proposed: unknown;
  readonly scope: ApprovalScope | null;
}

/** It is not asked: there are too many already, or it is too large. */
export class AskRefused extends Error {}

/** What the next gate goes on with. */
export interface KeptAsk {
  readonly ask: GateAsk;
  readonly hash: string;
  /** Null while there is none. One that was told is not kept. */
  readonly answer: GateAnswer | null;
}

interface OpenAsk {
  readonly ask: GateAsk;
  readonly hash: string;
  answer: GateAnswer | null;
  /** An approval that could not be applied: whoever waits is told. */
  problem: GateAnswer | null;
  readonly waiting: Set<() => void>;
}

/** Answers that nobody has asked for yet. */
const MAX_ANSWERED = 64;
const ID_CHARACTERS = 10;
const HOUR = 3600;

/**
 * All that this sandbox has asked for and that has no answer, or one that nobody was told. A gate works while no daemon runs: what is asked then waits here, and in
 * the memory that outlives a killed gate, until a daemon comes.
 */
export class Asks {
  readonly #open = new Map<string, OpenAsk>();
  /** When each was asked, of the last hour. The daemon counts too, over all gates of a run. */
  readonly #raised = new Map<string, number>();
  readonly #told: { onNew: () => void; onChange: () => void };
  readonly #now: () => number;

  /** `onNew`: a daemon is to hear of it. `onChange`: what is kept has changed. */
  constructor(told: { onNew: () => void; onChange: () => void }, now: () => number = () => Date.now() / 1000) {
    this.#told = told;
    this.#now = now;
  }

  /** The id of the proposal. Asked again with the same content it is the same one, as long as nobody was told its answer. Throws `AskRefused`. */
  raise({ kind, justification, proposed, command = null }: Asked): string {
    const hash = contentHash(kind, proposed);
    this.#dropOld();
    for (const [id, at] of this.#raised) if (Math.abs(this.#now() - at) >= HOUR) this.#raised.delete(id);
    for (const [id, one] of this.#open) if (one.hash === hash) return id;
    // SECURITY: an agent cannot flood the operator, nor this gate's memory (G-95)
    const pending = [...this.#open.values()].filter(({ answer }) => answer === null).length;
    if (pending >= MAX_PENDING_PER_RUN)
      throw new AskRefused(
        `${pending} proposals of this run wait for the operator already, which is the most there can be`,
      );
    // SECURITY: nor by asking for something else each time (G-121)
    if (this.#raised.size >= MAX_PROPOSALS_PER_HOUR)
      throw new AskRefused(
        `this run has asked ${this.#raised.size} times within an hour, which is the most there can be`,
      );
    if (Buffer.byteLength(JSON.stringify(proposed)) > MAX_PROPOSED_BYTES)
      throw new AskRefused(`it is larger than ${MAX_PROPOSED_BYTES} bytes`);
    const ask: GateAsk = {
      ask_id: `p-${randomName(ID_CHARACTERS)}`,
      kind,
      justification: justification.slice(0, MAX_JUSTIFICATION),
      proposed,
      command: command === null ? null : command.slice(0, MAX_JUSTIFICATION),
      created_at: this.#now(),
    };
    this.#open.set(ask.ask_id, { ask, hash, answer: null, problem: null, waiting: new Set() });
    this.#raised.set(ask.ask_id, this.#now());
    this.#told.onChange();
    this.#told.onNew();
    return ask.ask_id;
  }

  /** Its answer; `pending` when there is none after that time, or at the signal. An answer is told once: the same asked again is a new proposal. */
  async wait(id: string, ms: number, signal?: AbortSignal): Promise<AskAnswer> {
    const one = this.#open.get(id);
    if (!one) return pending(id);
    if (one.answer === null && ms > 0 && signal?.aborted !== true) await woken(one, ms, signal);
    const { answer, problem } = one;
    one.problem = null;
    if (answer === null) return problem ? toAnswer(problem) : pending(id);
    this.#open.delete(id);
    this.#told.onChange();
    return toAnswer(answer);
  }

  /** Its answer has had its effect, and nobody needs to be told. */
  drop(proposalId: string): void {
    for (const [id, { answer }] of this.#open) if (answer?.proposal_id === proposalId) this.#open.delete(id);
    this.#told.onChange();
  }

  /** From the daemon, which may say the same again. Gives what was asked for those that are decided now. */
  hear(answers: readonly GateAnswer[]): { readonly ask: GateAsk; readonly answer: GateAnswer }[] {
    const decided: { ask: GateAsk; answer: GateAnswer }[] = [];
    for (const answer of answers) {
      const one = this.#open.get(answer.ask_id);
      if (!one || one.answer !== null) continue;
      // An earlier answer stands: no proposal was made.
      if (answer.proposal_id !== answer.ask_id) this.#raised.delete(answer.ask_id);
      if (answer.status !== "pending") {
        one.answer = answer;
        decided.push({ ask: one.ask, answer });
      } else if (answer.reason === null) continue;
      else one.problem = answer;
    }
    if (decided.length > 0) this.#told.onChange();
    return decided;
  }

  /** After what an answer allows is in force. */
  wake(): void {
    for (const { answer, problem, waiting } of this.#open.values())
      if (answer !== null || problem !== null) for (const go of [...waiting]) go();
  }

  /** For a daemon: those without an answer, oldest first. */
  get unanswered(): GateAsk[] {
    return [...this.#open.values()].flatMap(({ ask, answer }) => (answer === null ? [ask] : []));
  }

  get kept(): KeptAsk[] {
    return [...this.#open.values()].map(({ ask, hash, answer }) => ({ ask, hash, answer }));
  }

  /** What a gate before this one had. Whoever waited then has gone with it. */
  restore(kept: readonly KeptAsk[]): void {
    for (const one of kept) this.#open.set(one.ask.ask_id, { ...one, problem: null, waiting: new Set() });
  }

  #dropOld(): void {
    const answered = [...this.#open].filter(([, { answer, waiting }]) => answer !== null && waiting.size === 0);
    for (const [id] of answered.slice(0, Math.max(0, answered.length - MAX_ANSWERED))) this.#open.delete(id);
    // No daemon came in all that time; one that comes now is not asked any more.
    for (const [id, { ask, waiting }] of this.#open)
      if (waiting.size === 0 && this.#now() - ask.created_at > PROPOSAL_SECONDS) this.#open.delete(id);
  }
}

async function woken(one: OpenAsk, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let wake = (): void => undefined;
  const over = new Promise<void>((done) => (wake = done));
  one.waiting.add(wake);
  const timer = setTimeout(wake, ms);
  const stopListening = signal ? onAbort(signal, wake) : () => undefined;
  await over;
  stopListening();
  clearTimeout(timer);
  one.waiting.delete(wake);
}

const toAnswer = ({ proposal_id, status, reason, proposed, scope }: GateAnswer): AskAnswer => ({
  proposal_id,
  status,
  reason,
  proposed,
  scope,
});

const pending = (proposal_id: string): AskAnswer => ({
  proposal_id,
  status: "pending",
  reason: null,
  proposed: null,
  scope: null,
});
