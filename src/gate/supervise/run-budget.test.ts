import { describe, expect, it, vi } from "vitest";
import type { BudgetOrder, BudgetState } from "../../model/budget.ts";
import type { GateAnswer } from "../../model/gate-control.ts";
import { RunBudget } from "./run-budget.ts";
import { SuperviseGate } from "./supervise-gate.ts";

const usage = { input_tokens: 30, output_tokens: 10, cache_read_tokens: 1000, cache_write_tokens: 5 };
const NOBODY = new AbortController().signal;

class Bed {
  now = 1000;
  monotonic = 7;
  readonly near: BudgetState[] = [];
  readonly supervise = new SuperviseGate({ onNew: () => undefined, onChange: () => undefined });
  readonly budget: RunBudget;

  constructor(limits: BudgetOrder["limits"], waitMs = 5000) {
    const options = { supervise: this.supervise, onNear: (state: BudgetState) => this.near.push(state), waitMs };
    this.budget = new RunBudget({ ...options, now: () => this.now, monotonic: () => this.monotonic });
    this.give(limits);
  }

  give(limits: BudgetOrder["limits"], used = { model_tokens: 0, model_requests: 0 }): void {
    this.budget.order = { limits, used, started_at: 1000 };
  }

  answer(status: GateAnswer["status"], reason: string | null = null): void {
    const asks = this.supervise.asks.unanswered;
    const rest = { status, reason, proposed: null, scope: null, valid_until: null };
    this.supervise.hear(asks.map(({ ask_id }) => ({ ask_id, proposal_id: ask_id, ...rest })));
  }

  get asked(): unknown[] {
    return this.supervise.asks.unanswered.map(({ kind, proposed }) => [kind, proposed]);
  }
}

describe("what a run may use up", () => {
  it("is without end where nobody says", async () => {
    const bed = new Bed({});
    for (let number = 0; number < 100; number++) bed.budget.count(usage);
    expect(bed.budget.isUsedUp).toBe(false);
    expect(await bed.budget.decide(NOBODY)).toBeUndefined();
    bed.budget.order = null;
    expect(bed.budget.isUsedUp).toBe(false);
    expect(bed.near).toEqual([]);
  });

  it("is told once at four fifths, and again under another limit", () => {
    const bed = new Bed({ model_tokens: 100, model_requests: 5 });
    bed.budget.count(usage); // 45: what comes out of a cache does not count
    expect(bed.near).toEqual([]);
    bed.budget.count(usage);
    bed.budget.count(usage);
    expect(bed.near).toEqual([{ resource: "model_tokens", used: 90, limit: 100 }]);
    bed.give({ model_tokens: 150, model_requests: 5 });
    expect(bed.near.slice(1)).toEqual([{ resource: "model_tokens", used: 135, limit: 150 }]);
  });

  it("is told of time when it comes, without a request", () => {
    vi.useFakeTimers();
    try {
      const bed = new Bed({ wall_seconds: 100 });
      bed.now += 80;
      vi.advanceTimersByTime(80_000);
      expect(bed.near).toEqual([{ resource: "wall_seconds", used: 80, limit: 100 }]);
      bed.budget.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it("G-115 gives a run no more time when the clock is set back, and counts what the other clock slept through", () => {
    const bed = new Bed({ wall_seconds: 100 });
    bed.monotonic += 99;
    bed.now -= 5000;
    expect(bed.budget.isUsedUp).toBe(false);
    bed.give({ wall_seconds: 100 });
    bed.monotonic += 1;
    expect(bed.budget.isUsedUp).toBe(true);
    const slept = new Bed({ wall_seconds: 100 });
    slept.now += 100;
    expect(slept.budget.isUsedUp).toBe(true);
  });

  it("G-115 holds all requests under one proposal, and lets them go on when there is more", async () => {
    const bed = new Bed({ model_requests: 1 });
    bed.budget.count(usage);
    const waiting = [1, 2, 3].map(() => bed.budget.decide(NOBODY));
    expect(bed.asked).toEqual([["budget", { resource: "model_requests", limit: 1, more: 1 }]]);
    bed.give({ model_requests: 2 });
    bed.answer("approved");
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    bed.budget.count(usage);
    const next = bed.budget.decide(NOBODY);
    expect(bed.asked).toEqual([["budget", { resource: "model_requests", limit: 2, more: 2 }]]);
    bed.answer("rejected", "enough");
    expect(await next).toMatchObject({ message: expect.stringContaining("rejected: enough") as unknown });
  });

  it("G-115 gives no more by itself: after the wait, without a daemon, or after a gate that has forgotten", async () => {
    const bed = new Bed({ model_tokens: 10 }, 1);
    bed.give({ model_tokens: 10 }, { model_tokens: 10, model_requests: 1 });
    const refusal = await bed.budget.decide(NOBODY);
    expect(refusal?.message).toContain("has been asked for more");
    expect(refusal?.proposal_id).toMatch(/^p-/);
    // The daemon knows less than this gate when it gives the next order.
    bed.give({ model_tokens: 10 });
    expect(bed.budget.isUsedUp).toBe(true);
    // An approval without more in force is none.
    const again = bed.budget.decide(AbortSignal.timeout(50));
    bed.answer("approved");
    expect((await again)?.message).toContain("has been asked for more");
  });
});
