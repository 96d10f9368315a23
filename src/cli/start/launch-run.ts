import type { PlannedRun } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";
import type { PlanRunOptions } from "../../sdk/options.ts";
import type { Context } from "../command.ts";
import type { GatheredValues } from "./gather-values.ts";

/** What was shown and agreed to. */
export interface AgreedRun {
  readonly agent: string;
  readonly options: PlanRunOptions;
  readonly planned: PlannedRun;
  /** Takes and asks for what the run needs of whoever starts it. */
  readonly gather: () => Promise<GatheredValues>;
}

/** Starts it, stays with it, and resolves to the exit code. */
export function launchRun(_context: Context, { agent }: AgreedRun): Promise<number> {
  return Promise.reject(
    failure("NOT_SUPPORTED", `Agent "${agent}" cannot be started: this version only plans`, {
      hint: "Give --dry-run to see what starting it would do",
    }),
  );
}
