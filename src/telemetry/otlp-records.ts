import type { ClocheEvent } from "../model/event.ts";

type AnyValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: AnyValue[] } }
  | { kvlistValue: { values: KeyValue[] } };
interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

const INFO = { severityNumber: 9, severityText: "INFO" };
const WARN = { severityNumber: 13, severityText: "WARN" };
const BAD = /^(?:egress\.(?:denied|lost)|push\.rejected|proposal\.failed|workspace\.failed|log\.gap)$/;

/** A part of the log as one message of OTLP, in its JSON encoding. */
export function otlpMessage(events: readonly ClocheEvent[], resource: Readonly<Record<string, string>>): string {
  const scopeLogs = [{ scope: { name: "cloche" }, logRecords: events.map(recordOf) }];
  return JSON.stringify({ resourceLogs: [{ resource: { attributes: pairsOf(resource) }, scopeLogs }] });
}

function recordOf({ kind, time, sequence, ...rest }: ClocheEvent): object {
  const { workspace_id, identity, ...facts } = rest;
  const nanoseconds = `${Math.round(time * 1e6)}000`;
  return {
    timeUnixNano: nanoseconds,
    observedTimeUnixNano: nanoseconds,
    ...(BAD.test(kind) ? WARN : INFO),
    eventName: `cloche.${kind}`,
    body: { stringValue: kind },
    attributes: pairsOf({
      "event.name": `cloche.${kind}`,
      "cloche.sequence": sequence,
      "cloche.workspace_id": workspace_id,
      "cloche.identity": identity,
      ...Object.fromEntries(Object.entries(facts).map(([name, value]) => [`cloche.${name}`, value])),
    }),
  };
}

/** What is null is not there. */
const pairsOf = (facts: object): KeyValue[] =>
  Object.entries(facts).flatMap(([key, value]: [string, unknown]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }],
  );

function anyValue(value: unknown): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { kvlistValue: { values: pairsOf(value ?? {}) } };
}
