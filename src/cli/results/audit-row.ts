import type { AuditEntry } from "../../model/audit.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";

export const AUDIT_HEADER = ["NUMBER", "TIME", "ABOUT", "KIND", "BY", "WHAT"];
const MAX_CHARACTERS = 100;
/** What a reader looks for: it stands before what is long, and is not cut off. */
const FIRST = ["status", "scope", "proposal_id", "reason"];

/** One entry at a glance; all of it is in the JSON. */
export function auditRow({
  sequence,
  time,
  identity,
  workspace_id: id,
  kind,
  operator,
  events,
  details,
}: AuditEntry): string[] {
  const times = events.count > 1 ? [`${events.count} times`] : [];
  const names = [...FIRST, ...Object.keys(details).filter((name) => !FIRST.includes(name))];
  const what = [...times, ...names.flatMap((name) => part(name, details[name]))].join(", ");
  const cut = what.length > MAX_CHARACTERS ? `${what.slice(0, MAX_CHARACTERS)}…` : what;
  return [String(sequence), formatTime(time), identity ?? id ?? "-", kind, operator ?? "-", cut].map(escapeName);
}

function part(name: string, value: unknown): string[] {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  return [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`];
}
