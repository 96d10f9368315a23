import type { StoredBudget, StoredWorkspace } from "../contracts/store.ts";
import { type Budget, BUDGET_RESOURCES, type BudgetOrder, tokensOf } from "../model/budget.ts";

/** What a run may use up: by its bottle, and by what the operator has given to that. */
export function budgetLimits({ limits, given }: StoredBudget): Budget {
  const all = BUDGET_RESOURCES.flatMap((resource) => {
    const limit = limits[resource];
    return limit === undefined ? [] : [[resource, limit + (given[resource] ?? 0)] as const];
  });
  return Object.fromEntries(all);
}

/** For its gate. */
export function budgetOrder({
  egress,
  modelUsage: { total },
}: Pick<StoredWorkspace, "egress" | "modelUsage">): BudgetOrder | null {
  const budget = egress?.budget;
  if (!budget || Object.keys(budget.limits).length === 0) return null;
  const used = { model_tokens: tokensOf(total), model_requests: total.requests };
  return { limits: budgetLimits(budget), used, started_at: budget.startedAt };
}
