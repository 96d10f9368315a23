import { join } from "node:path";

/** Where the audit of a home is. */
export interface AuditPlaces {
  readonly log: string;
  /** Beside the keys, so that nobody cuts the log and this in one go by mistake. */
  readonly checkpoint: string;
}

export const auditPlaces = (home: string): AuditPlaces => ({
  log: join(home, "audit.jsonl"),
  checkpoint: join(home, "keys", "audit-checkpoint.json"),
});
