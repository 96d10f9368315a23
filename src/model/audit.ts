/** Things that somebody may have to answer for later. The list is closed. */
export const AUDIT_KINDS = {
  "run.started": "An agent was launched, under that policy and in that environment",
  "run.ended": "An agent has ended",
  "policy.changed": "What may leave a workspace was changed",
  "credential.used": "The gate put a credential into requests",
  "request.denied": "The gate refused requests",
  "push.forwarded": "The gate sent a push on",
  "push.held": "A push waits for the operator",
  "push.refused": "The gate refused a push",
  "proposal.created": "Somebody asked the operator for something",
  "proposal.decided": "A proposal was answered, or its time ran out",
  "proposal.failed": "An approval could not be applied: the policy is as it was",
  "rule.added": "The operator wrote a rule that answers proposals",
  "rule.removed": "Such a rule is gone",
  "events.lost": "A gate has dropped what it had to tell, because no daemon took it",
  "events.missing": "Events went from their log before they were audited",
} as const;
export type AuditKind = keyof typeof AUDIT_KINDS;

/** Which events of the log an entry tells of: one, or several of the same kind that came close together. */
export interface AuditedEvents {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** What an entry tells, before it is chained and signed. No value of a secret is ever in it. */
export interface AuditRecord {
  readonly sequence: number;
  /** Unix seconds: when the first of its events was. */
  readonly time: number;
  readonly kind: AuditKind;
  readonly identity: string | null;
  readonly workspace_id: string | null;
  /** The user of the host who did it, or `rule r-…` of theirs; null where a policy did, or the agent. */
  readonly operator: string | null;
  readonly events: AuditedEvents;
  readonly details: Readonly<Record<string, unknown>>;
  /** With this entry, all events up to here are audited. Null where entries that were written together go on. */
  readonly through: number | null;
}

export interface AuditEntry extends AuditRecord {
  /** The hash of the entry before, in hexadecimal digits. */
  readonly previous: string;
  readonly hash: string;
  /** Of the hash, by the key of this installation. */
  readonly signature: string;
}

/** Answer of `audit show`. */
export interface AuditShown {
  readonly path: string;
  readonly count: number;
  readonly entries: readonly AuditEntry[];
  /** Why what happened last is not in it; null where all of it is. */
  readonly problem: string | null;
}

/** Answer of `audit verify`. */
export interface AuditVerified {
  readonly path: string;
  readonly valid: boolean;
  /** Entries that follow on each other and are signed. */
  readonly count: number;
  /** The first that is not as it was written; null where all are. */
  readonly first_bad: { readonly sequence: number; readonly problem: string } | null;
  /** By which key: the hash of its usual encoding, as in a bundle. */
  readonly key_id: string;
}

/** Answer of `audit export`. */
export interface AuditExported extends AuditVerified {
  readonly output_path: string;
}
