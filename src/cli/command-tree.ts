import type { CommandEntry, CommandGroup, CommandTree } from "./command.ts";

interface Worded {
  readonly words: readonly string[];
}

export function findCommand(tree: CommandTree, words: readonly string[]): CommandEntry | undefined {
  const full = shortFor(words);
  const find = (wanted: readonly string[]) => tree.commands.find((entry) => sameWords(entry.words, wanted));
  return find(words) ?? (full && find(full));
}

/** What people type in other programs. */
const SHORT: Readonly<Record<string, string>> = { ls: "list", ps: "list", rm: "delete" };

/** The words that these are short for: `ls` and `rm` in every group, and without one for workspaces, which also `ps` lists. */
function shortFor(words: readonly string[]): readonly string[] | undefined {
  const last = words.at(-1) ?? "";
  const full = Object.hasOwn(SHORT, last) ? SHORT[last] : undefined;
  if (full === undefined) return undefined;
  const group = words.length === 1 ? ["workspace"] : words.slice(0, -1);
  return last !== "ps" || sameWords(group, ["workspace"]) ? [...group, full] : undefined;
}

/** The short words for workspaces, each with the command that it is short for; in other groups they are not worth a place in a list. */
export function shortsBelow(tree: CommandTree, words: readonly string[]): { word: string; entry: CommandEntry }[] {
  if (words.length > 0 && !sameWords(words, ["workspace"])) return [];
  return Object.keys(SHORT).flatMap((word) => {
    const entry = findCommand(tree, [...words, word]);
    return entry ? [{ word, entry }] : [];
  });
}

export const findGroup = (tree: CommandTree, words: readonly string[]): CommandGroup | undefined =>
  tree.groups.find((group) => sameWords(group.words, words));

/** Commands and groups one level below the words, in the tree's order; a group stands where its first command does. */
export function childrenOf(tree: CommandTree, words: readonly string[]): readonly (CommandEntry | CommandGroup)[] {
  const isChild = (item: Worded) => item.words.length === words.length + 1 && sameWords(item.words.slice(0, -1), words);
  const place = (item: Worded) =>
    tree.commands.findIndex((entry) => sameWords(entry.words.slice(0, item.words.length), item.words));
  const commands = tree.commands.filter((entry) => !entry.hidden && isChild(entry));
  return [...commands, ...tree.groups.filter(isChild)].toSorted((one, other) => place(one) - place(other));
}

const sameWords = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word, index) => word === other[index]);
