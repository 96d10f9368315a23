import { applyEdits, modify, parse, printParseErrorCode, type ParseError } from "jsonc-parser";
import { BadSyntax, CannotSet, isTable, sameValue, withEntry, type ConfigDocument } from "./config-document.ts";

/** With comments it is the JSON of editors: commas at the end are fine too. */
export function parseJson(text: string, options: { readonly comments: boolean }): ConfigDocument {
  const value = read(text, options.comments);
  return {
    value,
    set(table, name, entry) {
      const formattingOptions = { ...indentationOf(text), eol: text.includes("\r\n") ? "\r\n" : "\n" };
      const changed = applyEdits(text, modify(text, [table, name], entry, { formattingOptions }));
      // A key that is there twice, for example: the parsers take the last one, the edit the first.
      if (!sameValue(read(changed, options.comments), withEntry(value, table, name, entry))) throw new CannotSet();
      return changed;
    },
  };
}

function read(text: string, comments: boolean): ConfigDocument["value"] {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
  const [error] = errors;
  if (error) throw syntaxAt(text, error.offset, reasonOf(error));
  if (!isTable(value)) throw new BadSyntax("it is not an object", 1, 1);
  return value;
}

/** `PropertyNameExpected` as words. */
function reasonOf({ error }: ParseError): string {
  const words = printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
  return words.endsWith("expected") ? `${words} here` : words;
}

function syntaxAt(text: string, offset: number, reason: string): BadSyntax {
  const before = text.slice(0, offset).split("\n");
  return new BadSyntax(reason, before.length, (before.at(-1)?.length ?? 0) + 1);
}

function indentationOf(text: string): { insertSpaces: boolean; tabSize: number } {
  const indent = /^([ \t]+)["}]/m.exec(text)?.[1] ?? "  ";
  return indent.startsWith("\t") ? { insertSpaces: false, tabSize: 1 } : { insertSpaces: true, tabSize: indent.length };
}
