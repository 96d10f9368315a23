/** What an event may take, as JSON. */
export const MAX_PAYLOAD_BYTES = 16 * 1024;

/** Tried in this order. The last one fits whatever it is given: no payload has more than two lists of records, nor more than a few fields. */
const BOUNDS = [
  { chars: 2000, items: 100, fields: 64 },
  { chars: 500, items: 32, fields: 32 },
  { chars: 100, items: 8, fields: 16 },
] as const;

type Bound = (typeof BOUNDS)[number];

/** A payload that takes no more than an event may; texts and lists that are too long end early. A sandbox chooses how long a name is. */
export function shorten(payload: object): { payload: object; truncated: boolean } {
  // Nearly all are that short: there is nothing in them to cut.
  if (JSON.stringify(payload).length <= BOUNDS[0].chars) return { payload, truncated: false };
  for (const bound of BOUNDS) {
    const cut = { done: false };
    const short = cutValue(payload, bound, cut) as object;
    if (bound === BOUNDS.at(-1) || Buffer.byteLength(JSON.stringify(short)) <= MAX_PAYLOAD_BYTES)
      return { payload: short, truncated: cut.done };
  }
  return { payload, truncated: false };
}

function cutValue(value: unknown, bound: Bound, cut: { done: boolean }): unknown {
  if (typeof value === "string") {
    if (value.length <= bound.chars) return value;
    cut.done = true;
    // Not inside a character.
    return `${value.slice(0, bound.chars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
  }
  if (typeof value !== "object" || value === null) return value;
  const within = <One>(all: readonly One[], most: number) => {
    if (all.length > most) cut.done = true;
    return all.slice(0, most);
  };
  if (Array.isArray(value)) return within(value, bound.items).map((one) => cutValue(one, bound, cut));
  const fields = within(Object.entries(value), bound.fields).map(([key, one]) => [
    cutValue(key, bound, cut) as string,
    cutValue(one, bound, cut),
  ]);
  return Object.fromEntries(fields) as object;
}
