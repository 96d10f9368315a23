import { BadValue } from "./bad-value.ts";
import { splitAtCommand, tokensOf } from "./command-start.ts";
import type { CommandShape } from "../command.ts";
import { GLOBAL_OPTIONS, type OptionSpec, type OptionSpecs, type PositionalSpec } from "./option-spec.ts";
import { findSimilar } from "./suggest.ts";
import { unknownName, usageError } from "./usage-error.ts";

export interface ParsedArguments {
  readonly json: boolean;
  readonly verbose: boolean;
  readonly help: boolean;
  readonly values: Readonly<Record<string, unknown>>;
  /** By the name in the definition. */
  readonly positionals: Readonly<Record<string, string>>;
  readonly words: readonly string[];
  /** The words of the command to run, where the command takes one. */
  readonly command: readonly string[];
}

/** Checks the words against the command's table. Throws USAGE for whatever does not fit. */
export function parseArguments(command: CommandShape, args: readonly string[]): ParsedArguments {
  const specs: OptionSpecs = { ...command.options, ...GLOBAL_OPTIONS };
  const { own, after } = splitAtCommand(command, specs, args);
  const given = new Map<string, unknown[]>();
  const words: string[] = [];
  for (const token of tokensOf(specs, own)) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) throw unknownFlag(command, token.rawName, { specs, dashes: after !== undefined });
    const value = checkValue(command.words, token.rawName, { spec, specs, token });
    const before = given.get(token.name) ?? [];
    // Whoever gives two values means both, and one of them would be lost.
    if (before.length > 0 && spec.type === "string" && !spec.multiple)
      throw usageError(command.words, `${token.rawName} was given more than once`, "It takes one value.");
    given.set(token.name, spec.multiple ? [...before, value] : [value]);
  }
  const flag = (name: string) => given.has(name);
  const common = { json: flag("json"), verbose: flag("verbose"), help: flag("help") };
  // Help is for those who do not know yet what is required.
  if (common.help) return { ...common, values: {}, positionals: {}, words, command: [] };

  if (!command.takesCommand) words.push(...(after ?? []));
  const positionals = assignPositionals(command, words);
  if (command.takesCommand && (after === undefined || after.length === 0)) {
    const [word] = words;
    // `cloche run host`: there is a program of that name too.
    const taken = word !== undefined && command.isOwnWord?.(word) ? ownWord(command, word) : undefined;
    throw usageError(command.words, `No command given${taken?.message ?? ""}`, taken?.advice ?? AFTER_DASHES);
  }
  return {
    ...common,
    values: collectValues(command, given),
    positionals,
    words,
    command: command.takesCommand ? (after ?? []) : [],
  };
}

interface OptionToken {
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** Whether a word is one of the command's own options; a patch or a line of text may well start with dashes. */
function isOwnOption(word: string, specs: OptionSpecs): boolean {
  if (/^-[A-Za-z]$/.test(word)) return Object.values(specs).some(({ short }) => short === word[1]);
  return word.startsWith("--") && Object.hasOwn(specs, word.slice(2).split("=", 1)[0] ?? "");
}

function checkValue(
  words: readonly string[],
  flag: string,
  { spec, specs, token }: { spec: OptionSpec; specs: OptionSpecs; token: OptionToken },
): unknown {
  if (spec.type === "boolean") {
    if (token.value !== undefined) throw usageError(words, `${flag} takes no value`);
    return true;
  }
  const { value } = token;
  if (value === undefined) throw usageError(words, `${flag} needs a value`);
  if (!token.inlineValue && isOwnOption(value, specs)) {
    const advice = spec.sensitive ? "" : ` If the value starts with a dash, write \`${flag}=${value}\`.`;
    throw usageError(words, `${flag} needs a value, and the next word is an option`, advice.trim() || undefined);
  }
  if (spec.choices && ![...spec.choices, ...(spec.alsoTakes ?? [])].includes(value)) {
    throw unknownName(
      words,
      `Invalid value "${value}" for ${flag}: it is one of ${spec.choices.join(", ")}`,
      value,
      spec.choices,
    );
  }
  if (!spec.parse) return value;
  try {
    return spec.parse(value);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const shown = spec.sensitive ? "" : ` "${value}"`;
    throw usageError(words, `Invalid value${shown} for ${flag}: ${error.message}`);
  }
}

function unknownFlag(command: CommandShape, flag: string, { specs, dashes }: { specs: OptionSpecs; dashes: boolean }) {
  const names = Object.keys(specs).map((name) => `--${name}`);
  const similar = findSimilar(flag, names);
  const positional = command.positionals.find(({ name }) => `--${name.toLowerCase()}` === flag);
  if (positional) {
    const { name } = positional;
    return usageError(command.words, `Unknown option ${flag}`, `${name} is given without a flag before it.`);
  }
  // `exec ID ls -l`: the flag was meant for the command.
  const advice = command.takesCommand && !dashes && similar === undefined ? AFTER_DASHES : undefined;
  return advice
    ? usageError(command.words, `Unknown option ${flag}`, advice)
    : unknownName(command.words, `Unknown option ${flag}`, flag, names);
}

const ownWord = ({ words, positionals: [spec] }: CommandShape, word: string) => ({
  message: `: "${word}" is taken for ${spec?.name ?? "an argument"}`,
  advice: `A program of that name runs with \`${["cloche", ...words, "--", word].join(" ")}\`.`,
});

const AFTER_DASHES = "Put the command and its arguments after `--`.";

function assignPositionals(command: CommandShape, words: readonly string[]): Record<string, string> {
  const assigned: Record<string, string> = {};
  // One that may be left out gets a word when there are words left for those that may not.
  let spare = words.length - command.positionals.filter(({ optional }) => !optional).length;
  let at = 0;
  for (const spec of command.positionals) {
    if (spec.optional && spare-- <= 0) continue;
    const word = words[at++];
    if (word === undefined) {
      throw usageError(command.words, `Missing ${spec.name}`, whereToLook(spec, words[0]));
    }
    if (word === "") throw usageError(command.words, `${spec.name} is empty`);
    if (spec.choices && !spec.choices.includes(word)) {
      throw unknownName(
        command.words,
        `Invalid ${spec.name} "${word}": it is one of ${spec.choices.join(", ")}`,
        word,
        spec.choices,
      );
    }
    assigned[spec.name] = word;
  }
  const extra = words[command.positionals.length];
  if (extra !== undefined && !command.positionals.at(-1)?.multiple) {
    const advice = command.takesCommand ? AFTER_DASHES : optionForPath(command);
    throw usageError(command.words, `Unexpected argument "${extra}"`, advice);
  }
  return assigned;
}

/** `patch apply ID FILE`: a command that takes one path of the host as an option is often given it without. */
function optionForPath({ options }: CommandShape): string | undefined {
  const [name, other] = Object.keys(options).filter((one) => options[one]?.completes === "host-path");
  return name === undefined || other !== undefined ? undefined : `A path of the host is given with \`--${name}\`.`;
}

/** What to type to see the values there are; `workspace` is what was typed for one, for what belongs to it. */
function whereToLook({ completes }: PositionalSpec, workspace = "ID"): string | undefined {
  switch (completes) {
    case "workspace":
      return "`cloche workspace list` shows the ids and names.";
    case "run":
      return "`cloche list active --all` shows the identities.";
    case "definition":
    case "agent":
      return "`cloche list` shows the names.";
    case "proposal":
      return "`cloche approvals list` shows the ids.";
    case "environment":
      return "`cloche env list` shows the names.";
    case "shell":
      return `\`cloche workspace shell list ${workspace}\` shows the ids.`;
    case "service":
    case "snapshot":
      return `\`cloche workspace ${completes} list ${workspace}\` shows the names.`;
    default:
      return undefined;
  }
}

function collectValues(command: CommandShape, given: ReadonlyMap<string, readonly unknown[]>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(command.options).map(([name, spec]) => {
      const values = given.get(name);
      if (values === undefined && spec.required) throw usageError(command.words, `Missing --${name}`);
      if (spec.type === "boolean") return [name, values !== undefined];
      return [name, spec.multiple ? (values ?? []) : values?.[0]];
    }),
  );
}
