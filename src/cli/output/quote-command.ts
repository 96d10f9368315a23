import type { Command } from "../../model/exec.ts";

/** A command as one could type it: a string is a shell command already, an argv is quoted where a shell would need it. */
export function quoteCommand(command: Command): string {
  return typeof command === "string" ? command : command.map(quoteWord).join(" ");
}

const quoteWord = (word: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
