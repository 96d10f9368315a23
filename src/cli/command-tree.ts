import type { CommandEntry, CommandGroup, CommandTree } from "./command.ts";

interface Worded {
  readonly words: readonly string[];
}

export const findCommand = (tree: CommandTree, words: readonly string[]): CommandEntry | undefined =>
  tree.commands.find((entry) => sameWords(entry.words, words));

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
