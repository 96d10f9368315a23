import { failure } from "./error-codes.ts";

/** The random part of an identity, with its dash. */
const RANDOM = /-[0-9a-z]{5}$/;

/** For whoever gave an agent's name, or the beginning of one identity: the one run that fits, as a question. */
export function similarRun(word: string, identities: readonly string[]): string | undefined {
  const ofAgent = identities.filter((one) => one.replace(RANDOM, "") === word);
  const begun = identities.filter((one) => word !== "" && one.startsWith(word));
  const [only, another] = ofAgent.length > 0 ? ofAgent : begun;
  return only === undefined || another !== undefined ? undefined : `Did you mean "${only}"?`;
}

/** An error about a run that there is not, given those that there are. */
export function runMissing(word: string, identities: readonly string[]): Error {
  const hint = similarRun(word, identities);
  return failure("RUN_NOT_FOUND", `There is no run "${word}"`, hint === undefined ? {} : { hint });
}
