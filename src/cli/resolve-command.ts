import type { CommandEntry, CommandTree } from "./command.ts";
import { childrenOf, findCommand, findGroup } from "./command-tree.ts";
import { GLOBAL_OPTIONS } from "./arguments/option-spec.ts";
import { unknownName, usageError } from "./arguments/usage-error.ts";

export type Resolution =
  | { readonly kind: "command"; readonly entry: CommandEntry; readonly rest: readonly string[] }
  /** The words stop at a group, or at the program itself (no words). */
  | { readonly kind: "group"; readonly words: readonly string[]; readonly flags: readonly string[] };

const FLAGS = new Set(
  Object.entries(GLOBAL_OPTIONS).flatMap(([name, spec]) => [
    `--${name}`,
    ...("short" in spec ? [`-${spec.short}`] : []),
  ]),
);

/** Finds the command that the first words name. Flags that every command takes may stand before and between them. */
export function resolveCommand(tree: CommandTree, args: readonly string[]): Resolution {
  const words: string[] = [];
  const flags: string[] = [];
  for (const [index, arg] of args.entries()) {
    if (FLAGS.has(arg)) {
      flags.push(arg);
      continue;
    }
    if (arg.startsWith("-")) throw unknownName(words, `Unknown option ${arg}`, arg, ["--version", ...FLAGS]);
    words.push(words.length === 0 ? fullName(tree, arg) : arg);
    const entry = findCommand(tree, words);
    if (entry && continues(tree, words, args[index + 1])) continue;
    if (entry) return { kind: "command", entry, rest: [...flags, ...args.slice(index + 1)] };
    if (!findGroup(tree, words)) throw unknownWord(tree, words.slice(0, -1), arg);
  }
  return { kind: "group", words, flags };
}

/** Whether the next word belongs to a longer command, as in `evidence verify`. */
export const continues = (tree: CommandTree, words: readonly string[], next: string | undefined): boolean =>
  next !== undefined && findCommand(tree, [...words, next]) !== undefined;

/** What an alias stands for. */
export const fullName = (tree: CommandTree, word: string): string =>
  tree.groups.find(({ alias }) => alias === word)?.words[0] ?? word;

function unknownWord(tree: CommandTree, parent: readonly string[], word: string) {
  const subject = parent.length === 0 ? `Unknown command "${word}"` : `"${parent.join(" ")}" has no command "${word}"`;
  const elsewhere = commandsNamed(tree, parent, word);
  if (elsewhere.length > 0) return usageError(parent, subject, `Did you mean ${elsewhere.join(" or ")}?`);
  return unknownName(parent, subject, word, [
    ...namesBelow(tree, parent),
    ...(parent.length === 0 ? ["--version"] : []),
  ]);
}

/** What the same thing is called in other programs. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ls: "list",
  ps: "list",
  rm: "delete",
  remove: "delete",
  new: "create",
  log: "logs",
  cp: "export",
};

/** The commands and groups in other places whose last word it is; the nearest ones, as typed. */
function commandsNamed(tree: CommandTree, parent: readonly string[], word: string): string[] {
  const wanted = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : word;
  const named = [...tree.commands, ...tree.groups].filter(({ words }) => words.at(-1) === wanted);
  const below = named.filter(({ words }) => parent.every((one, index) => words[index] === one));
  const nearest = below.length > 0 ? below : named;
  const fewest = Math.min(...nearest.map(({ words }) => words.length));
  return nearest
    .filter(({ words }) => words.length === fewest)
    .map(({ words }) => `\`${["cloche", ...words].join(" ")}\``);
}

export function missingCommand(tree: CommandTree, words: readonly string[]) {
  const after = words.length === 0 ? "" : ` after "${words.join(" ")}"`;
  return usageError(words, `Missing command${after}: one of ${namesBelow(tree, words).join(", ")}`);
}

const namesBelow = (tree: CommandTree, words: readonly string[]): string[] =>
  childrenOf(tree, words).map((child) => child.words.at(-1) ?? "");
