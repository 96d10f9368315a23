import { isClocheError } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import type { Command } from "../command.ts";
import { usageError } from "./usage-error.ts";

/** Who typed an option is told about that option, not about the argument of the API that it became. */
export function nameOption(error: unknown, { words, options }: Pick<Command, "words" | "options">): unknown {
  if (!isClocheError(error) || error.code !== "INVALID_ARGUMENT") return error;
  const { argument, problem } = error.details ?? {};
  if (typeof argument !== "string" || typeof problem !== "string") return error;
  const option = argument.replaceAll("_", "-");
  if (!Object.hasOwn(options, option)) return error;
  const { message, hint } = usageError(words, problem.replace(`"${argument}"`, `--${option}`));
  return failure(error.code, message, { hint, details: { argument, problem }, cause: error });
}
