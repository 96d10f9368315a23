import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { messageOf } from "../../base/errors.ts";
import { aliasFault, yamlWords } from "../../base/yaml-words.ts";
import { MAX_YAML_CHARS, nestingProblem, yamlProblem } from "./plain-yaml.ts";

/** A Markdown file with YAML between two lines of `---` at its beginning. */
export interface FrontMatter {
  readonly value: unknown;
  readonly body: string;
  /** The line of the file that a key of the value is on, or the nearest one above it. */
  lineOf(path: readonly PropertyKey[]): number;
}

export interface FrontMatterProblem {
  readonly line: number;
  /** A clause. */
  readonly problem: string;
}

/** The lines before the first of the YAML. */
const LINES_BEFORE = 1;

export function parseFrontMatter(file: string): FrontMatter | FrontMatterProblem {
  const text = file.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const [first = "", ...rest] = text.split("\n");
  if (first.trimEnd() !== "---") return { line: 1, problem: 'the first line must be "---", with YAML below it' };
  const end = rest.findIndex((line) => line.trimEnd() === "---");
  if (end < 0) return { line: 1, problem: 'no second line of "---" ends the YAML' };
  const yaml = rest.slice(0, end).join("\n");
  if (yaml.length > MAX_YAML_CHARS) return { line: 1, problem: `its YAML has more than ${MAX_YAML_CHARS} characters` };
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line + LINES_BEFORE;
  try {
    const deep = nestingProblem(yaml);
    if (deep) return { line: LINES_BEFORE + yaml.slice(0, deep.offset).split("\n").length, problem: deep.problem };
    // The library compares each key with all others; `yamlProblem` does so at once.
    const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    // A tag that nobody knows is a warning of the library's; here it would be a value that silently means something else.
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) return { line: lineAt(problem.pos[0]), problem: yamlWords(yaml, problem) };
    const unusual = yamlProblem(document);
    if (unusual) return { line: lineAt(unusual.offset), problem: unusual.problem };
    const loose = aliasFault(document);
    if (loose) return { line: lineAt(loose.pos[0]), problem: yamlWords(yaml, loose) };
    return {
      value: (document.toJS() as unknown) ?? {},
      body: rest.slice(end + 1).join("\n"),
      lineOf: (path) => lineAt(offsetOf(document, path)),
    };
  } catch (error) {
    // Deeper than the library goes, or aliases of aliases, which would become very much of it.
    return { line: 1 + LINES_BEFORE, problem: lowerFirst(messageOf(error)) };
  }
}

function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  let at: unknown = document.contents;
  let offset = startOf(at) ?? 0;
  for (const key of path) {
    const [place, next] = below(at, key);
    if (place === undefined) break;
    offset = place;
    at = next;
  }
  return offset;
}

function below(node: unknown, key: PropertyKey): readonly [number | undefined, unknown] {
  if (isMap(node)) {
    const pair = node.items.find(({ key: one }) => String(isScalar(one) ? one.value : one) === String(key));
    return [startOf(pair?.key), pair?.value];
  }
  if (!isSeq(node)) return [undefined, undefined];
  const item = node.items[Number(key)];
  return [startOf(item), item];
}

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
