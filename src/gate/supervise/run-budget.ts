import {
  BUDGET_NEAR,
  BUDGET_RESOURCES,
  BUDGET_WORDS,
  type BudgetOrder,
  type BudgetState,
  tokensOf,
} from "../../model/budget.ts";
import type { ModelUsage } from "../../model/model-usage.ts";
import { WAIT_SECONDS } from "../../model/proposal-kinds.ts";
import { type AskAnswer, AskRefused } from "./asks.ts";
import type { SuperviseGate } from "./supervise-gate.ts";

/** The longest that a timer can wait; one that is further away is set again. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** SECURITY: what waits takes bounded memory; what comes beyond it is asked for and does not wait (G-115) */
const MOST_HELD = 64;

/** Why a request does not pass now. */
export interface BudgetRefusal {
  readonly message: string;
  /** Null where nobody was asked. */
  readonly proposal_id: string | null;
}

interface BudgetOptions {
  readonly supervise: SuperviseGate;
  /** The first time that a resource is nearly used up, under each limit. */
  readonly onNear: (state: BudgetState) => void;
  readonly waitMs?: number;
  readonly now?: () => number;
  /** Seconds of a clock that nobody sets. */
  readonly monotonic?: () => number;
}

/** What a run may use up. Requests that come when it is used up are held until the operator gives more. */
export class RunBudget {
  readonly #options: BudgetOptions;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  /** What the run had taken when this gate first heard of it, and when that was by the other clock. */
  #begun: { readonly startedAt: number; readonly seconds: number; readonly at: number } | undefined;
  readonly #told = new Set<string>();
  #order: BudgetOrder | null = null;
  #tokens = 0;
  #requests = 0;
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now() / 1000);
    this.#monotonic = options.monotonic ?? (() => performance.now() / 1000);
  }

  /** What the daemon has counted may be more, from gates before this one; it may be less, where it has not heard of the last answers yet. */
  set order(order: BudgetOrder | null) {
    this.#order = order;
    const startedAt = order?.started_at;
    if (startedAt !== undefined && this.#begun?.startedAt !== startedAt)
      this.#begun = { startedAt, seconds: this.#now() - startedAt, at: this.#monotonic() };
    this.#tokens = Math.max(this.#tokens, order?.used.model_tokens ?? 0);
    this.#requests = Math.max(this.#requests, order?.used.model_requests ?? 0);
    this.#tell();
  }

  /** A model is asked. It counts now: many questions may go out before the first answer. */
  begin(): void {
    this.#requests++;
    this.#tell();
  }

  /** No model has answered what was begun. */
  giveBack(): void {
    this.#requests = Math.max(0, this.#requests - 1);
  }

  /** A model's answer told what it took. `isBegun`: its request has been counted. */
  count(usage: ModelUsage, isBegun = false): void {
    this.#tokens += tokensOf(usage);
    if (!isBegun) this.#requests++;
    this.#tell();
  }

  get isUsedUp(): boolean {
    return this.#over !== undefined;
  }

  get #over(): BudgetState | undefined {
    return this.#order ? this.#states().find(({ used, limit }) => used >= limit) : undefined;
  }

  /** Undefined when a request may go on. `gone`: its client has given up. */
  async decide(gone: AbortSignal): Promise<BudgetRefusal | undefined> {
    for (;;) {
      // SECURITY: a run that has used up what it may gets no further by itself (G-115)
      const over = this.#over;
      if (!over) return undefined;
      const answer = await this.#ask(over, gone);
      if (typeof answer === "string") return refusal(over, `, and the operator cannot be asked: ${answer}`, null);
      const { status, reason, proposal_id } = answer;
      // The order with more was in force before this was told: else somebody has used that up too.
      if (status === "approved" || status === "modified") continue;
      if (status !== "pending")
        return refusal(over, `, and it was ${status}${reason === null ? "" : `: ${reason}`}`, proposal_id);
      return refusal(over, `. The operator has been asked for more, as ${proposal_id}`, proposal_id);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #ask({ resource, used, limit }: BudgetState, gone: AbortSignal): Promise<AskAnswer | string> {
    const { supervise, waitMs = WAIT_SECONDS * 1000 } = this.#options;
    const asked = {
      kind: "budget",
      justification: `The run has used ${used} ${BUDGET_WORDS[resource]}, and may use ${limit}`,
      // The same for all requests that wait for it.
      proposed: { resource, limit, more: limit },
    } as const;
    this.#held++;
    try {
      return await supervise.ask(asked, this.#held > MOST_HELD ? 0 : waitMs, gone);
    } catch (error) {
      if (error instanceof AskRefused) return error.message;
      throw error;
    } finally {
      this.#held--;
    }
  }

  /** SECURITY: a clock that was set back gives a run no more time. One that goes on while the host sleeps counts that too (G-115) */
  #seconds({ started_at }: BudgetOrder): number {
    const begun = this.#begun;
    const counted = begun ? begun.seconds + this.#monotonic() - begun.at : 0;
    return Math.max(0, this.#now() - started_at, counted);
  }

  #states(): BudgetState[] {
    const order = this.#order;
    if (!order) return [];
    const used = {
      model_tokens: this.#tokens,
      model_requests: this.#requests,
      wall_seconds: Math.floor(this.#seconds(order)),
    };
    return BUDGET_RESOURCES.flatMap((resource) => {
      const limit = order.limits[resource];
      return limit === undefined ? [] : [{ resource, used: used[resource], limit }];
    });
  }

  #tell(): void {
    clearTimeout(this.#timer);
    for (const state of this.#states()) {
      const { resource, used, limit } = state;
      const key = `${resource} ${limit}`;
      if (this.#told.has(key)) continue;
      // Whole seconds are for readers: with these the timer would come too early, and wait as long again.
      const exact = resource === "wall_seconds" && this.#order ? this.#seconds(this.#order) : used;
      const left = limit * BUDGET_NEAR - exact;
      if (left <= 0) {
        this.#told.add(key);
        this.#options.onNear(state);
      } else if (resource === "wall_seconds")
        this.#timer = setTimeout(() => this.#tell(), Math.min(Math.ceil(left * 1000), MAX_TIMER_MS)).unref();
    }
  }
}

const refusal = ({ resource, used, limit }: BudgetState, why: string, proposal_id: string | null): BudgetRefusal => ({
  message: `This run has used ${used} ${BUDGET_WORDS[resource]}, and may use ${limit}${why}`,
  proposal_id,
});
