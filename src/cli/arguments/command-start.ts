import { parseArgs } from "node:util";
import type { CommandShape } from "../command.ts";
import type { OptionSpecs } from "./option-spec.ts";

export interface SplitArguments {
  readonly own: string[];
  /** The words of the command that runs in the sandbox, where there is one, or what stands after `--`. */
  readonly after: string[] | undefined;
}

/** What comes before the first `--` is ours; what comes after belongs to the command that runs in the sandbox. */
export function splitAtDashes(args: readonly string[]): SplitArguments {
  const at = args.indexOf("--");
  return at === -1 ? { own: [...args], after: undefined } : { own: args.slice(0, at), after: args.slice(at + 1) };
}

/**
 * The same for a command that may also do without `--`, as other programs have it: it begins with the first word that is not ours, and all that follows is its
 * own, dashes and all.
 */
export function splitAtCommand(command: CommandShape, specs: OptionSpecs, args: readonly string[]): SplitArguments {
  const split = splitAtDashes(args);
  if (!command.takesCommand) return split;
  const words = tokensOf(specs, split.own).filter((token) => token.kind === "positional");
  const [first] = words;
  // With `--` right behind it, a word is never the command.
  const isOurs =
    first && (words.length > 1 || split.after === undefined) ? command.isOwnWord?.(first.value) : undefined;
  const start = words[isOurs === false ? 0 : command.positionals.length];
  return start ? { own: args.slice(0, start.index), after: args.slice(start.index) } : split;
}

export function tokensOf(specs: OptionSpecs, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [
      name,
      { type, multiple: true, ...(short !== undefined && { short }) },
    ]),
  );
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}
