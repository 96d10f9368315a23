import { LineCounter, parseDocument, stringify } from "yaml";
import { escapeJson, escapeName } from "../base/visible-text.ts";
import { aliasFault, yamlWords } from "../base/yaml-words.ts";
import type { ProposalDetail } from "../model/proposal.ts";
import { showLines } from "./shown.ts";

/** As bottles are written. */
export const toYaml = (value: unknown): string => stringify(value, { lineWidth: 0 });

const isVisible = (text: string): boolean => text.split("\n").every((line) => escapeName(line) === line);

/**
 * What the operator's editor gets.
 * SECURITY: an editor may show a file as it is, so what would drive a terminal or reorder a line is written as an escape (G-129).
 */
export function draftText({ proposal_id: id, kind, adds }: ProposalDetail, proposed: unknown): string {
  const yaml = toYaml(proposed);
  const head = [`${kind} ${id}`, adds, "Change what is below, save and leave. Nothing is approved before you say so."];
  const comments = head.flatMap(showLines).map((line) => `# ${line}\n`);
  return `${comments.join("")}\n${isVisible(yaml) ? yaml : `${escapeJson(JSON.stringify(proposed, null, 2))}\n`}`;
}

/** What came back from it, or what is wrong with it. */
export function readDraft(text: string): { readonly proposed: unknown } | { readonly problem: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const error = document.errors[0] ?? document.warnings[0] ?? aliasFault(document);
  if (error) return { problem: `line ${lines.linePos(error.pos[0]).line}: ${yamlWords(text, error)}` };
  try {
    const proposed: unknown = document.toJS({ maxAliasCount: 0 });
    return proposed === null ? { problem: "it is empty" } : { proposed };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether it says what it said before. */
export const isSame = (one: unknown, other: unknown): boolean => toYaml(one) === toYaml(other);
