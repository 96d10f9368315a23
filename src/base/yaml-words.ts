import { type Alias, type Document, visit } from "yaml";

/** What a YAML parser says is wrong. */
interface YamlFault {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** What is wrong with a YAML text, as a clause: what people get wrong most often in plain words, all else in the parser's. */
export function yamlWords(text: string, { code, message, pos: [at] }: YamlFault): string {
  if (code === "BAD_ALIAS") return 'a word that begins with a star needs quotes, as in "*.example.com"';
  if (code === "TAB_AS_INDENT") return "a tab indents this line; YAML is indented with spaces";
  return emptyAbove(text, at) ?? colonWithoutSpace(text, at) ?? message.charAt(0).toLowerCase() + message.slice(1);
}

/** `host: *.example.com` without quotes. To a parser it is an alias, and that there is nothing of that name it says only to whoever takes the value. */
export function aliasFault(document: Document): YamlFault | undefined {
  let loose: Alias | undefined;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      loose = alias;
      return visit.BREAK;
    },
  });
  const [start = 0, end = 0] = loose?.range ?? [];
  return loose && { code: "BAD_ALIAS", message: "Unresolved alias", pos: [start, end] };
}

/** `routes: []` with a list below it. */
function emptyAbove(text: string, at: number): string | undefined {
  const lines = text.split("\n");
  // The parser's place is before what is below, or at its beginning.
  let line = text.slice(0, at).trimEnd().split("\n").length - 1;
  while (line > 0 && !hasContent(lines[line])) line--;
  const above = lines[line]?.trimEnd() ?? "";
  const empty = ["[]", "{}"].find((one) => above.endsWith(one));
  const below = lines.slice(line + 1).find(hasContent);
  if (empty === undefined || below === undefined || !/[:-]$/.test(above.slice(0, -2).trimEnd())) return undefined;
  const isList = /^-( |$)/.test(below.trimStart());
  const inner = indentOf(below) - indentOf(above);
  if (inner < 0 || (inner === 0 && !isList)) return undefined;
  return `take the "${empty}" above it away: ${isList ? "the list" : "what is"} below it is the value`;
}

const hasContent = (line = ""): boolean => !/^\s*(#|$)/.test(line);
const indentOf = (line: string): number => line.length - line.trimStart().length;

/** `host:a.test`. The value is not repeated: it may be a secret. */
function colonWithoutSpace(text: string, at: number): string | undefined {
  const [, key] = /^([A-Za-z_][\w-]*):(?!\/\/)\S/.exec(text.slice(at)) ?? [];
  return key === undefined ? undefined : `there is no space after the colon of "${key}"`;
}
