import { expect, it } from "vitest";
import { ERROR_CODES } from "./error-codes.ts";
import { runMissing } from "./run-missing.ts";

it.each([
  ["dev", ["dev-k3x9a", "docs-abcde"], 'Did you mean "dev-k3x9a"?'],
  ["dev-k3", ["dev-k3x9a", "dev-abcde"], 'Did you mean "dev-k3x9a"?'],
  // The agent of that name, and not another one whose name is longer.
  ["dev", ["dev-k3x9a", "dev-two-abcde"], 'Did you mean "dev-k3x9a"?'],
  ["dev", ["dev-k3x9a", "dev-abcde"], ERROR_CODES.RUN_NOT_FOUND.hint],
  ["nobody", ["dev-k3x9a"], ERROR_CODES.RUN_NOT_FOUND.hint],
  ["dev", [], ERROR_CODES.RUN_NOT_FOUND.hint],
])("asks after %j of %j whether the one run that fits is meant", (word, identities, hint) => {
  expect(runMissing(word, identities)).toMatchObject({ message: `There is no run "${word}"`, hint });
});
