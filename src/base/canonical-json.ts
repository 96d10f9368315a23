export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * One text for one value, as RFC 8785 has it: keys in order, no space, numbers and strings as `JSON.stringify` writes them. What is signed must not depend on who
 * wrote it down.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((one: Json) => canonicalJson(one)).join(",")}]`;
  if (value === null || typeof value !== "object") return scalar(value);
  const members = Object.entries(value as Record<string, Json>)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

function scalar(value: string | number | boolean | null): string {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is no number of JSON`);
  return JSON.stringify(value);
}
