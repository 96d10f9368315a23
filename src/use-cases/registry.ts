import { failure } from "../model/error-codes.ts";
import { coldStartValidation } from "./cold-start-validation.ts";
import { parallelWorkspaces } from "./parallel-workspaces.ts";
import { reproFixLoop } from "./repro-fix-loop.ts";
import { reviewEval } from "./review-eval.ts";
import { untrustedInspection } from "./untrusted-inspection.ts";
import type { UseCase } from "./use-case.ts";

/** In the order that `all` runs them and that the index of the documents has. */
export const USE_CASES: readonly UseCase[] = [
  coldStartValidation,
  reproFixLoop,
  parallelWorkspaces,
  untrustedInspection,
  reviewEval,
];

export const USE_CASE_SCENARIOS: readonly string[] = USE_CASES.map(({ scenario }) => scenario);
export const ALL_USE_CASES = "all";
export const USE_CASE_CHOICES: readonly string[] = [...USE_CASE_SCENARIOS, ALL_USE_CASES];

/** The use cases that a name stands for. Throws `USAGE` with the names there are for any other. */
export function findUseCases(name: string): readonly UseCase[] {
  if (name === ALL_USE_CASES) return USE_CASES;
  const found = USE_CASES.filter(({ scenario }) => scenario === name);
  if (found.length > 0) return found;
  const message = `Unknown use-case scenario ${JSON.stringify(name)}: there are ${USE_CASE_CHOICES.join(", ")}`;
  throw failure("USAGE", message, { hint: "Give one of these names to --scenario" });
}
