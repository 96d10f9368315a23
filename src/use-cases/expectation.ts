import { isDeepStrictEqual } from "node:util";

/**
 * Throws unless `actual` has what `wanted` has: an object may have more fields, at any depth; everything else is equal, lists in
 * length and order too. `what` names it in the message.
 */
export type Expect = (what: string, actual: unknown, wanted: unknown) => void;

export const expectMatch: Expect = (what, actual, wanted) => {
  const difference = findDifference(what, actual, wanted);
  if (difference !== undefined) throw new Error(difference);
};

/** The first place where the two differ, in words, or undefined. */
export function findDifference(what: string, actual: unknown, wanted: unknown): string | undefined {
  if (Array.isArray(wanted) && Array.isArray(actual) && actual.length === wanted.length)
    return firstOf(wanted, (item, index) => findDifference(`${what}[${index}]`, actual[index], item));
  if (isFields(wanted) && isFields(actual))
    return firstOf(Object.entries(wanted), ([key, value]) => findDifference(`${what}.${key}`, actual[key], value));
  if (isDeepStrictEqual(actual, wanted)) return undefined;
  return `expected ${what} to be ${show(wanted)}, it is ${show(actual)}`;
}

function firstOf<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const MAX_SHOWN = 2000;

function show(value: unknown): string {
  const text = value === undefined ? "missing" : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
