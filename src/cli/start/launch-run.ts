import type { PlannedRun } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";
import type { PlanRunOptions } from "../../sdk/options.ts";
import type { Context } from "../command.ts";
import type { GatheredValues } from "./gather-values.ts";

/** Starts what was shown and agreed to, stays with it, and resolves to the exit code. */
export function launchRun(
  _context: Context,
  agent: string,
  _options: PlanRunOptions,
  _planned: PlannedRun,
  _values: () => Promise<GatheredValues>,
): Promise<number> {
  return Promise.reject(
    failure("NOT_SUPPORTED", `Agent "${agent}" cannot be started: this version only plans`, {
      hint: "Give --dry-run to see what starting it would do",
    }),
  );
}
