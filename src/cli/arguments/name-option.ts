import { isClocheError } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import { optionName, positionName } from "../../model/hint.ts";
import type { Command } from "../command.ts";
import { usageError } from "./usage-error.ts";

/** The user typed an option or a word, so the error names that, and not the argument of the API that it became. */
export function nameOption(error: unknown, command: Pick<Command, "words" | "options" | "positionals">): unknown {
  if (!isClocheError(error) || error.code !== "INVALID_ARGUMENT") return error;
  const { argument, problem } = error.details ?? {};
  if (typeof argument !== "string" || typeof problem !== "string") return error;
  const typed = typedName(argument, command);
  if (typed === undefined) return error;
  const { message, hint } = usageError(command.words, problem.replace(`"${argument}"`, typed));
  return failure(error.code, message, { hint, details: { argument, problem }, cause: error });
}

/** `labels.a` is part of what `--label` gave. */
function typedName(argument: string, { options, positionals }: Pick<Command, "options" | "positionals">) {
  const [name = ""] = argument.split(".");
  if (Object.hasOwn(options, optionName(name))) return `--${optionName(name)}`;
  const position = positionName(name);
  return positionals.some((one) => one.name === position) ? position : undefined;
}
