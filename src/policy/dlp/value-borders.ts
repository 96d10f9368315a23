import type { Rule } from "./detector.ts";
import { endOf, startOf, type Match } from "./match.ts";

/** A longer keyword does not come about by chance. */
const LONGEST_BY_CHANCE = 5;

/** Of what a generator makes: a token that has one of these before it begins elsewhere. */
const OF_TOKEN = new Uint8Array(256);
for (const one of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") OF_TOKEN[one.charCodeAt(0)] = 1;

/**
 * Whether what was found in a text that was put together begins where a value or a word begins. Random identifiers are full of the few characters by which some tokens
 * are known, and put together they are as long as a token.
 *
 * `rule`: of a known value there is none, and that is not found by chance.
 */
export function beginsAtBorder(
  { match, rule }: { readonly match: Match; readonly rule: Rule | undefined },
  text: Uint8Array,
  borders?: ReadonlySet<number>,
): boolean {
  const [view, inner] = match.view;
  if (rule === undefined || inner !== undefined || (view !== undefined && view !== "reversed")) return true;
  if (rule.keywords.every(({ length }) => length > LONGEST_BY_CHANCE)) return true;
  if (view === "reversed") return isBorder(text[endOf(match)]) || borders?.has(endOf(match)) === true;
  const start = withKeyword(rule, text, startOf(match));
  return isBorder(text[start - 1]) || borders?.has(start) === true;
}

const isBorder = (neighbour: number | undefined): boolean => OF_TOKEN[neighbour ?? 0] === 0;

/** Of some rules what is found begins behind their keyword. */
function withKeyword({ keywords }: Rule, text: Uint8Array, start: number): number {
  const before = Buffer.from(text.buffer, text.byteOffset, start).toString("latin1").slice(-LONGEST_BY_CHANCE);
  return start - (keywords.find((keyword) => before.endsWith(keyword))?.length ?? 0);
}
