import type { AdvisedArgument, AdvisedCall, Hint, HintPart } from "../base/hint.ts";
import { isOperation, OPERATIONS, type OperationInput, type OperationName } from "./operations.ts";

/** One way out, written as a template: text, with calls and arguments in it. */
export const way = (text: TemplateStringsArray, ...parts: readonly (HintPart | number)[]): HintPart[] =>
  text
    .flatMap((piece, index) => [piece, parts[index] ?? ""])
    .flatMap((part): HintPart[] => (part === "" ? [] : [typeof part === "number" ? String(part) : part]));

/** A null: as the call that fails was given it. */
export const call = <Name extends OperationName>(
  operation: Name,
  args: { readonly [Key in keyof OperationInput<Name>]?: OperationInput<Name>[Key] | null } = {},
): AdvisedCall => ({ operation, arguments: args });

export const argument = (name: string, value?: string): AdvisedArgument => ({ argument: name, value });

/** How a surface says what a hint advises; undefined where it cannot do that. */
export interface HintStyle {
  call(advised: AdvisedCall): string | undefined;
  argument(advised: AdvisedArgument): string | undefined;
}

/** The ways that a surface has, as a sentence; empty when it has none. */
export function hintWords(hint: Hint, style: HintStyle): string {
  const ways = hint.flatMap((parts) => {
    const words = parts.map((part) => {
      if (typeof part === "string") return part;
      return "operation" in part ? style.call(part) : style.argument(part);
    });
    return words.includes(undefined) ? [] : [words.join("")];
  });
  const sentence = ways.join(", or ");
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

/** Puts in what the call that failed was given, so that what is advised can be done as it is shown. */
export function fillHint(hint: Hint, input: object): Hint {
  const given = new Map<string, unknown>(Object.entries(input));
  const fill = (part: HintPart): HintPart => {
    if (typeof part === "string" || !("operation" in part)) return part;
    const filled = Object.entries(part.arguments).map(([key, value]) => [key, value ?? given.get(key) ?? null]);
    return { ...part, arguments: Object.fromEntries(filled) as Record<string, unknown> };
  };
  return hint.map((parts) => parts.map(fill));
}

/** Taken by position, with the word that stands for each where it is not known. The others are options. */
const POSITIONS: Readonly<Record<string, string>> = {
  environment: "ENVIRONMENT",
  workspace_id: "ID",
  shell_id: "SHELL",
  service_name: "NAME",
  snapshot_name: "NAME",
  proposal_id: "ID",
  path: "PATH",
  source_path: "HOST_PATH",
};

/** As a person at a terminal does it. */
export const COMMAND_LINES: HintStyle = {
  call: ({ operation, arguments: args }) => {
    const words = isOperation(operation) ? OPERATIONS[operation].cli : null;
    if (words === null) return undefined;
    const entries = Object.entries(args);
    const positions = Object.keys(POSITIONS).flatMap((key) =>
      Object.hasOwn(args, key) ? [quoted(args[key] ?? POSITIONS[key])] : [],
    );
    const options = entries.flatMap(([key, value]) => (Object.hasOwn(POSITIONS, key) ? [] : option(key, value)));
    return `\`${["cloche", words, ...positions, ...options].join(" ")}\``;
  },
  argument: ({ argument: name, value }) => option(name, value).join(" "),
};

/** Options whose name is not that of the argument. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  output_path: "output",
  labels: "label",
  clear_labels: "clear-label",
  secrets: "secret",
  published_ports: "publish",
  allow_hosts: "allow-host",
};

/** The option of a command line that becomes an argument of the API, without its dashes. */
export const optionName = (argument: string): string => (OPTION_NAMES[argument] ?? argument).replaceAll("_", "-");

/** The word that the help has for an argument which is taken by position; undefined for all others. */
export const positionName = (argument: string): string | undefined =>
  Object.hasOwn(POSITIONS, argument) ? POSITIONS[argument] : undefined;

function option(name: string, value: unknown): string[] {
  const flag = `--${optionName(name)}`;
  if (value === undefined || value === true) return [flag];
  return [flag, value === null ? name.toUpperCase() : quoted(value)];
}

function quoted(value: unknown): string {
  const text = String(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
