import type { ClocheError } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import { findSimilar } from "./suggest.ts";

/** What was typed does not fit. `words` are the command's, for the hint; `advice` is a sentence put before it. */
export function usageError(words: readonly string[], message: string, advice?: string): ClocheError {
  const help = `Run \`${["cloche", ...words].join(" ")} --help\` to see what it takes`;
  return failure("USAGE", message, { hint: advice === undefined ? help : `${advice} ${help}` });
}

/** As `usageError`, with the nearest of the names there are. */
export function unknownName(
  words: readonly string[],
  message: string,
  typed: string,
  names: readonly string[],
): ClocheError {
  const similar = findSimilar(typed, names);
  return usageError(words, message, similar === undefined ? undefined : `Did you mean "${similar}"?`);
}
