import type { Redactor } from "./redactor.ts";

/** Every string in it, names of fields too. */
export function redactValue(value: unknown, redactor: Redactor): unknown {
  if (redactor.isEmpty) return value;
  if (typeof value === "string") return redactor.text(value);
  if (Array.isArray(value)) return value.map((one) => redactValue(one, redactor));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [redactor.text(key), redactValue(one, redactor)]),
  );
}
