import type { BudgetResource } from "../model/budget.ts";
import { failure } from "../model/error-codes.ts";
import type { Effect, Subject } from "../supervise/effect.ts";
import { changeEgress } from "../workspaces/change-routes.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { budgetLimits } from "../workspaces/run-budget.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";

interface Parts {
  readonly deps: Dependencies;
  readonly workspaces: Workspaces;
}

/** More of what a run has used up. It holds for the run, also when it is taken up later. */
export function budgetEffect({ deps, workspaces }: Parts): Effect<"budget"> {
  const limitOf = ({ workspace_id: id }: Subject, resource: BudgetResource): number | null => {
    const budget = deps.store.findWorkspace(id)?.egress?.budget;
    return (budget && budgetLimits(budget)[resource]) ?? null;
  };
  return {
    look(subject, { resource, more }) {
      const limit = limitOf(subject, resource);
      return {
        current: { resource, limit },
        after: limit === null ? null : { resource, limit: limit + more },
        routes: [],
        limit,
      };
    },
    async apply(subject, { resource, more }, _scope, answer) {
      if (limitOf(subject, resource) === null)
        throw failure("RUN_NOT_ACTIVE", `Run "${subject.identity}" is gone, or has no such limit any more`, {
          hint: "Reject it with a reason",
        });
      await changeEgress(deps, workspaces, subject.workspace_id, {
        by: answer.by,
        change(egress) {
          answer.check();
          const { budget } = egress;
          if (!budget) return egress;
          const given = { ...budget.given, [resource]: (budget.given[resource] ?? 0) + more };
          return { ...egress, budget: { ...budget, given } };
        },
        settle: async (write) => {
          answer.settle(write);
          await Promise.resolve();
        },
      });
    },
  };
}
