import { type CST, type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, Parser } from "yaml";

/** More than any definition has. The library takes a time that grows much faster than what it reads. */
export const MAX_YAML_CHARS = 64 * 1024;
const MAX_NODES = 8192;
const MAX_DEPTH = 32;
const MAX_ALIASES = 100;

export interface YamlProblem {
  readonly offset: number;
  /** A clause. */
  readonly problem: string;
}

/**
 * Where a text is nested more deeply than any definition, before a document is made of it; undefined where it is not.
 *
 * SECURITY: a document is made by calls within calls, and where these have nearly used up the stack, an expression that is compiled then ends the whole process (G-175)
 */
export function nestingProblem(yaml: string): YamlProblem | undefined {
  let level: CST.Token[] = [...new Parser().parse(yaml)];
  // A document is around all of it.
  for (let depth = 0; level.length > 0; depth++) {
    const [first] = level;
    if (depth > MAX_DEPTH + 1 && first) return { offset: first.offset, problem: "it is nested too deeply" };
    level = level.flatMap(tokensIn);
  }
  return undefined;
}

function tokensIn(token: CST.Token): CST.Token[] {
  if (token.type === "document") return token.value ? [token.value] : [];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].flatMap((one) => one ?? []));
}

/**
 * What in a document is more than maps with plain keys, lists and values, of a moderate size; undefined when nothing is.
 *
 * SECURITY: a repository brings such files, and the daemon reads them: two kilobytes of nested keys would keep it busy for minutes (G-25)
 */
export function yamlProblem({ contents }: Document): YamlProblem | undefined {
  const waiting: { readonly node: unknown; readonly depth: number }[] = [{ node: contents, depth: 0 }];
  let nodes = 0;
  let aliases = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    const at = (problem: string): YamlProblem => ({ offset: offsetOf(node), problem });
    if (++nodes > MAX_NODES) return at("there is too much of it");
    if (depth > MAX_DEPTH) return at("it is nested too deeply");
    if (isAlias(node) && ++aliases > MAX_ALIASES) return at("it has too many aliases");
    if (!isMap(node) && !isSeq(node)) continue;
    const seen = new Set<string>();
    for (const item of node.items) {
      if (!isPair(item)) {
        waiting.push({ node: item, depth: depth + 1 });
        continue;
      }
      const { key, value } = item;
      if (!isScalar(key)) return { offset: offsetOf(key ?? node), problem: "a key must be a word" };
      const name = String(key.value);
      if (seen.has(name)) return { offset: offsetOf(key), problem: "map keys must be unique" };
      seen.add(name);
      waiting.push({ node: value, depth: depth + 1 });
    }
  }
  return undefined;
}

const offsetOf = (node: unknown): number => (node as Node | null | undefined)?.range?.[0] ?? 0;
