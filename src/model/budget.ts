import type { ModelUsage } from "./model-usage.ts";

/** What a run may use up. */
export const BUDGET_RESOURCES = ["model_tokens", "model_requests", "wall_seconds"] as const;
export type BudgetResource = (typeof BUDGET_RESOURCES)[number];

/** How people call it. */
export const BUDGET_WORDS: Readonly<Record<BudgetResource, string>> = {
  model_tokens: "tokens of models",
  model_requests: "requests to models",
  wall_seconds: "seconds since its start",
};

/** Of each: at most so much. */
export type Budget = { readonly [Resource in BudgetResource]?: number | undefined };

/** From this part on the operator is told. */
export const BUDGET_NEAR = 0.8;

/** What counts. What comes out of a cache is cheap, and not counted. */
export const tokensOf = ({ input_tokens, output_tokens, cache_write_tokens }: ModelUsage): number =>
  input_tokens + output_tokens + cache_write_tokens;

/** What a run has used so far, and may use. */
export interface BudgetOrder {
  readonly limits: Budget;
  readonly used: { readonly model_tokens: number; readonly model_requests: number };
  /** Unix seconds. */
  readonly started_at: number;
}

export interface BudgetState {
  readonly resource: BudgetResource;
  readonly used: number;
  readonly limit: number;
}
