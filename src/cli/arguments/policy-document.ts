import { LineCounter, isMap, isNode, parseDocument } from "yaml";
import { messageOf } from "../../base/errors.ts";
import { aliasFault, yamlWords } from "../../base/yaml-words.ts";

/** A policy as it stands in a file, and where in it each part is. */
export interface PolicyDocument {
  readonly value: unknown;
  /** The line of what a path leads to, or of the nearest thing above it that there is. */
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined;
}

/** Reads YAML, or JSON, which is YAML too; gives the line and a clause for what is neither. `egress:` may stand around the policy or not. */
export function readPolicyDocument(text: string): PolicyDocument | { readonly line: number; readonly problem: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const problem = document.errors[0] ?? aliasFault(document);
  if (problem) return { line: lineAt(problem.pos[0]), problem: yamlWords(text, problem) };
  const { contents } = document;
  const isWrapped = isMap(contents) && contents.items.length === 1 && contents.has("egress");
  let whole: unknown;
  try {
    whole = document.toJS() ?? {};
  } catch (error) {
    return { line: 1, problem: messageOf(error) }; // aliases of aliases, which would become very much of it
  }
  return {
    value: isWrapped ? ((whole as { egress: unknown }).egress ?? {}) : whole,
    lineOf: (path) => {
      const keys = isWrapped ? ["egress", ...path] : path;
      for (let length = keys.length; length > 0; length--) {
        const node = document.getIn(keys.slice(0, length), true);
        if (isNode(node) && node.range) return lineAt(node.range[0]);
      }
      return contents?.range ? lineAt(contents.range[0]) : undefined;
    },
  };
}
