import type { runOperations } from "../model/operations/run-operations.ts";
import { plannedRun } from "../policy/bottles/preflight.ts";
import type { Verb } from "../workspaces/verb.ts";
import { applyRun } from "./apply-run.ts";
import { cleanUp } from "./clean-up.ts";
import { planAgain } from "./plan-again.ts";
import type { RunParts } from "./run-parts.ts";
import type { Runs } from "./runs.ts";

/** The operations about runs. */
export function runHandlers(
  parts: RunParts,
  runs: Runs,
): { readonly [Name in keyof typeof runOperations]: Verb<Name> } {
  return {
    startRun: (input, context) => runs.start(input, context),
    planResume: async (input) => plannedRun(await planAgain(parts.deps, runs.resumable(input.identity), input)),
    resumeRun: (input, context) => runs.resume(input, context),
    attachRun: (input, context) => runs.attach(input, context),
    resizeRun: (input) => runs.resize(input),
    signalRun: (input) => runs.signal(input),
    stopRun: (input) => runs.stop(input),
    listRuns: (input) => Promise.resolve(runs.list(input)),
    commitRun: (input, context) => runs.commit(input, context),
    applyRun: (input, context) => applyRun(parts, input, context),
    cleanUp: (input) => cleanUp(parts, runs, input),
  };
}
