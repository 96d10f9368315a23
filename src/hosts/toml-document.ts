import { parse, stringify, TomlError } from "smol-toml";
import { BadSyntax, CannotSet, isTable, sameValue, withEntry, type ConfigDocument } from "./config-document.ts";

/**
 * The parser reads and writes, and does not edit: our sections are replaced as lines. Whether that met the right lines is not left to
 * chance, the result is parsed and compared.
 */
export function parseToml(text: string): ConfigDocument {
  const value = read(text);
  return {
    value,
    set(table, name, entry) {
      const section = stringify({ [table]: { [name]: entry } }).trimEnd();
      const changed = replaceSections(text, [table, name], section);
      if (!says(changed, withEntry(value, table, name, entry))) throw new CannotSet();
      return changed;
    },
  };
}

function read(text: string): ConfigDocument["value"] {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new BadSyntax(reason, error.line, error.column);
  }
}

function says(text: string, value: unknown): boolean {
  try {
    return sameValue(parse(text), value);
  } catch {
    return false; // the sections did not fit into this text
  }
}

interface Section {
  /** The first line and the line after the last. */
  readonly start: number;
  readonly end: number;
}

function replaceSections(text: string, path: readonly string[], section: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/);
  const added = section.split("\n");
  const [first, ...others] = findSections(lines, path);
  if (!first) {
    const before = text === "" || text.endsWith("\n") ? text : text + eol;
    return [...(before === "" ? [] : [before, eol]), added.join(eol), eol].join("");
  }
  const removed = new Set(others.flatMap(({ start, end }) => linesBetween(withBlanksBefore(lines, start), end)));
  const kept = (from: number, to: number) => lines.slice(from, to).filter((_, index) => !removed.has(from + index));
  return [...kept(0, first.start), ...added, ...kept(first.end, lines.length)].join(eol);
}

/** The sections at a path and below it. Comments before the next header belong to what follows. */
function findSections(lines: readonly string[], path: readonly string[]): Section[] {
  const headers = lines.flatMap((line, start) => {
    const header = headerOf(line);
    return header ? [{ start, own: path.every((key, index) => header[index] === key) }] : [];
  });
  return headers.flatMap(({ start, own }, index) => {
    if (!own) return [];
    let end = headers[index + 1]?.start ?? lines.length;
    while (end > start + 1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? "")) end -= 1;
    return [{ start, end }];
  });
}

/** The keys of a line such as `[mcp_servers."my server"]`; the parser itself takes it apart. */
function headerOf(line: string): string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined;
  try {
    return keysOf(parse(line));
  } catch {
    return undefined; // a line of an array
  }
}

function keysOf(value: unknown): string[] {
  const item: unknown = Array.isArray(value) ? value[0] : value;
  if (!isTable(item)) return [];
  return Object.entries(item).flatMap(([key, below]) => [key, ...keysOf(below)]);
}

function withBlanksBefore(lines: readonly string[], start: number): number {
  let at = start;
  while (at > 0 && lines[at - 1]?.trim() === "") at -= 1;
  return at;
}

const linesBetween = (start: number, end: number): number[] =>
  Array.from({ length: end - start }, (_, index) => start + index);
