import type { AuditKind } from "../model/audit.ts";
import type { ClocheEvent, EventKind } from "../model/event.ts";
import type { NewAuditEntry } from "./audit-log.ts";

/** What the audit makes of the events that it looks at. */
const AUDITED = {
  "run.started": "run.started",
  "run.ended": "run.ended",
  "policy.changed": "policy.changed",
  "credential.used": "credential.used",
  "egress.request": "credential.used",
  "egress.denied": "request.denied",
  "push.accepted": "push.forwarded",
  "push.held": "push.held",
  "push.rejected": "push.refused",
  "proposal.created": "proposal.created",
  "proposal.decided": "proposal.decided",
  "proposal.failed": "proposal.failed",
  "rule.added": "rule.added",
  "rule.removed": "rule.removed",
  "egress.lost": "events.lost",
  "log.gap": "events.missing",
} as const satisfies Partial<Record<EventKind, AuditKind>>;
type AuditedKind = keyof typeof AUDITED;
type AuditedEvent = Extract<ClocheEvent, { kind: AuditedKind }>;

export const AUDITED_KINDS: ReadonlySet<EventKind> = new Set(Object.keys(AUDITED) as AuditedKind[]);

/** What one event has to tell the audit. */
export interface Audited {
  readonly entry: NewAuditEntry;
  /** Events that a sandbox can cause at will, with the same one of these, are told together: a flood does not fill the disk. Null for what is told alone, and at once. */
  readonly key: string | null;
}

/** Mostly one. A request that was refused at its answer has used its credential too. */
export function auditedEvent(event: ClocheEvent): Audited[] {
  if (!isAudited(event)) return [];
  const { sequence, time, identity, workspace_id } = event;
  const events = { first: sequence, last: sequence, count: 1 };
  return toldOf(event).map(({ kind = AUDITED[event.kind], key, operator = null, details }) => ({
    entry: { time, kind, identity, workspace_id, operator, events, details },
    key: key === null ? null : JSON.stringify([kind, workspace_id, identity, ...key]),
  }));
}

const isAudited = (event: ClocheEvent): event is AuditedEvent => AUDITED_KINDS.has(event.kind);

interface Told {
  readonly kind?: AuditKind;
  readonly details: Readonly<Record<string, unknown>>;
  readonly operator?: string | null;
  readonly key: readonly unknown[] | null;
}

function toldOf(event: AuditedEvent): Told[] {
  switch (event.kind) {
    case "egress.request":
    case "credential.used":
      return usedOf(event);
    case "egress.denied": {
      const { method, host, port, path, rule, code } = event;
      return [{ details: { code, method, host, port, path, rule }, key: [code, host, port] }, ...usedOf(event)];
    }
    case "push.rejected":
      return [{ details: detailsOf(event), key: [event.repo, event.reason] }];
    default:
      return [{ details: detailsOf(event), operator: operatorOf(event), key: null }];
  }
}

/** Each kind of event has its own word for who did it. */
function operatorOf(event: AuditedEvent): string | null {
  if ("operator" in event) return event.operator;
  if ("decided_by" in event) return event.decided_by;
  if ("created_by" in event) return event.created_by;
  return "removed_by" in event ? event.removed_by : null;
}

function usedOf({ credentials, host, port }: { credentials: string[]; host: string; port: number }): Told[] {
  if (credentials.length === 0) return [];
  return [{ kind: "credential.used", details: { credentials, host, port }, key: [credentials, host, port] }];
}

const HEAD: ReadonlySet<string> = new Set(["sequence", "time", "kind", "workspace_id", "identity"]);

/** All that an event tells beside its head. */
const detailsOf = (event: AuditedEvent): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(event).filter(([name]) => !HEAD.has(name)));
