import { cutMiddle, firstEntries, jsonLength, RESULT_BUDGET } from "./bounded.ts";

/** What was left out of a field: entries of a list, characters of a text. */
interface Cut {
  readonly field: string;
  readonly shown: number;
  readonly total: number;
}

type Holder = Record<string, unknown>;
interface Part {
  readonly field: string;
  readonly holder: Holder;
  readonly key: string;
  readonly value: string | unknown[];
  readonly length: number;
}

/** A text that is no longer cut: what is left of it would say nothing. */
const LEAST = 200;

/**
 * A result within the budget, whatever was in it. Tools that have a way to read on have cut by themselves; this is for the rest. The longest part gives way
 * first, a list at its end and a text in its middle, and `cut` says so.
 */
export function fitResult(result: object, readOn = "ask for less at once"): Holder {
  if (jsonLength(result) <= RESULT_BUDGET) return { ...result };
  const fitted = structuredClone(JSON.parse(JSON.stringify(result))) as Holder;
  const totals = new Map<string, number>();
  const told = (): Holder => ({ ...fitted, cut: cutsOf(fitted, totals), read_on: readOn });
  for (;;) {
    const over = jsonLength(told()) - RESULT_BUDGET;
    const part = over > 0 && longestPart(fitted);
    if (!part) return told();
    const { holder, key, value, length } = part;
    if (!totals.has(part.field)) totals.set(part.field, value.length);
    const budget = Math.max(Math.floor(length / 2), length - over - LEAST);
    holder[key] =
      typeof value === "string" ? cutMiddle(value, Math.max(budget, LEAST), readOn) : shorter(value, budget);
  }
}

function shorter(list: unknown[], budget: number): unknown[] {
  const kept = firstEntries(list, budget);
  return kept.length < list.length ? kept : list.slice(0, -1);
}

/** The longest list or text. A list with one text that is most of it is not to blame. */
function longestPart(result: Holder): Part | undefined {
  const parts = partsOf(result, "").toSorted((one, other) => other.length - one.length);
  const text = parts.find(({ value }) => typeof value === "string");
  const [first] = parts;
  return text && first && text.length >= first.length / 2 ? text : first;
}

function partsOf(value: unknown, at: string): Part[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]: [string, unknown]) => {
    const field = at === "" ? key : `${at}.${key}`;
    const length = jsonLength(one);
    const canGive = typeof one === "string" ? length > 2 * LEAST : Array.isArray(one) && one.length > 1;
    const part = { field, holder: value as Holder, key, value: one as string | unknown[], length };
    return [...(canGive ? [part] : []), ...partsOf(one, field)];
  });
}

function cutsOf(result: Holder, totals: ReadonlyMap<string, number>): Cut[] {
  return [...totals].flatMap(([field, total]) => {
    const value = field.split(".").reduce<unknown>((at, key) => (at as Holder | undefined)?.[key], result);
    return value === undefined ? [] : [{ field, shown: (value as string | unknown[]).length, total }];
  });
}
