import type { Colours } from "./output/colour.ts";
import type { Command, CommandTree } from "./command.ts";
import { childrenOf, findCommand, findGroup } from "./command-tree.ts";
import { GLOBAL_OPTIONS, type OptionSpec, type OptionSpecs } from "./arguments/option-spec.ts";
import type { OutputStream } from "./io.ts";
import { formatPairs } from "./output/table.ts";
import { terminalSize } from "./terminal/terminal-size.ts";
import { hangText, wrapText } from "./output/wrap-text.ts";

/** The help of a command or a group as data; `--help --json` prints it, and a test compares it with the contract. */
export interface HelpDocument {
  command: string;
  summary: string;
  description: string | null;
  usage: string;
  commands: { name: string; summary: string }[];
  arguments: { name: string; optional: boolean; description: string }[];
  options: {
    flag: string;
    short: string | null;
    value: string | null;
    multiple: boolean;
    required: boolean;
    description: string;
  }[];
  global_options: { flag: string; short: string | null; description: string }[];
  takes_command: boolean;
  examples: string[];
}

export async function helpDocument(tree: CommandTree, words: readonly string[]): Promise<HelpDocument> {
  const entry = findCommand(tree, words);
  return entry ? commandHelp(tree, await entry.load()) : groupHelp(tree, words);
}

function commandHelp(tree: CommandTree, command: Command): HelpDocument {
  const name = ["cloche", ...command.words].join(" ");
  const positionals = command.positionals.map(({ name: word, optional, multiple }) => {
    const shown = multiple ? `${word}…` : word;
    return optional ? `[${shown}]` : shown;
  });
  const required = Object.entries(command.options).filter(([, spec]) => spec.required);
  const parts = [
    name,
    ...positionals,
    ...required.map(([flag, spec]) => `--${flag} ${spec.value ?? "VALUE"}`),
    "[options]",
  ];
  return {
    command: name,
    summary: command.summary,
    description: command.description ?? null,
    usage: [...parts, ...(command.takesCommand ? ["-- CMD…"] : [])].join(" "),
    commands: commandsBelow(tree, command.words),
    arguments: command.positionals.map((spec) => ({
      name: spec.name,
      optional: spec.optional === true,
      description: withChoices(spec.description, spec.choices),
    })),
    options: Object.entries(command.options).map(([flag, spec]) => ({
      ...describe(flag, spec),
      value: spec.type === "string" ? (spec.value ?? "VALUE") : null,
      multiple: spec.multiple === true,
      required: spec.required === true,
    })),
    global_options: describeAll(GLOBAL_OPTIONS),
    takes_command: command.takesCommand === true,
    examples: [...command.examples],
  };
}

function groupHelp(tree: CommandTree, words: readonly string[]): HelpDocument {
  const name = ["cloche", ...words].join(" ");
  const group = findGroup(tree, words);
  const top = words.length === 0;
  return {
    command: name,
    summary: group?.summary ?? "Runs commands and coding agents in disposable, isolated workspaces",
    description: group?.alias === undefined ? null : `\`cloche ${group.alias}\` is short for \`${name}\`.`,
    usage: `${name} COMMAND [options]`,
    commands: commandsBelow(tree, words),
    arguments: [],
    options: [],
    global_options: [
      ...describeAll(GLOBAL_OPTIONS),
      ...(top ? [{ flag: "--version", short: "-V", description: "Print the version" }] : []),
    ],
    takes_command: false,
    examples: top ? TOP_EXAMPLES : [],
  };
}

const commandsBelow = (tree: CommandTree, words: readonly string[]): HelpDocument["commands"] =>
  childrenOf(tree, words).map((child) => ({ name: child.words.slice(words.length).join(" "), summary: child.summary }));

const TOP_EXAMPLES = [
  "cloche demo",
  "cloche run -- sh -c 'id; ls /'",
  "cloche workspace create --seed-path . --name first",
  "cloche workspace exec ws-4 -- npm test",
  "cloche workspace diff ws-4",
];

const describe = (flag: string, spec: OptionSpec) => ({
  flag: `--${flag}`,
  short: spec.short === undefined ? null : `-${spec.short}`,
  description: withChoices(spec.description, spec.choices) + (spec.multiple ? " (may be repeated)" : ""),
});

const describeAll = (specs: OptionSpecs) => Object.entries(specs).map(([flag, spec]) => describe(flag, spec));

const withChoices = (description: string, choices: readonly string[] | undefined): string =>
  choices ? `${description}: ${choices.join(", ")}` : description;

/** As wide as text is easy to read, or as the terminal is. */
export const helpWidth = (output: OutputStream): number =>
  Math.min(80, output.isTTY === true ? terminalSize(output).cols : 80);

export function formatHelp(help: HelpDocument, { bold }: Colours, width: number): string {
  const section = (title: string, rows: readonly (readonly [string, string])[]): string[] =>
    rows.length === 0 ? [] : ["", bold(`${title}:`), ...formatPairs(rows, width - 2).map((line) => `  ${line}`)];
  const flagText = (option: { flag: string; short: string | null; value?: string | null }) =>
    `${option.short === null ? "   " : `${option.short},`} ${option.flag}${option.value ? ` ${option.value}` : ""}`;
  return `${[
    ...wrapText(help.summary, width),
    ...(help.description === null ? [] : ["", ...wrapText(help.description, width)]),
    "",
    ...hangText(`${bold("Usage:")} `, "Usage: ".length, help.usage, width),
    ...section(
      "Commands",
      help.commands.map(({ name, summary }) => [name, summary]),
    ),
    ...section(
      "Arguments",
      help.arguments.map(({ name, description }) => [name, description]),
    ),
    ...section(
      "Options",
      help.options.map((option) => [flagText(option), option.description + (option.required ? " (required)" : "")]),
    ),
    ...section(
      "Everywhere",
      help.global_options.map((option) => [flagText(option), option.description]),
    ),
    // To be copied as they are, so they are not wrapped.
    ...(help.examples.length === 0 ? [] : ["", bold("Examples:"), ...help.examples.map((example) => `  ${example}`)]),
  ].join("\n")}\n`;
}
