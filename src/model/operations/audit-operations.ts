import { AUDIT_KINDS, type AuditExported, type AuditKind, type AuditShown, type AuditVerified } from "../audit.ts";
import type { EvidenceMade } from "../evidence.ts";
import { type Operation, typeOnly } from "../operation.ts";

const KINDS = Object.keys(AUDIT_KINDS) as [AuditKind, ...AuditKind[]];

export const auditOperations = {
  /** The newest entries, oldest first, with all that has happened before it was asked. */
  showAudit: {
    kind: "call",
    input: ({ z, identity }) =>
      z.strictObject({
        identity: identity.optional(),
        kinds: z.array(z.enum(KINDS)).min(1).max(KINDS.length).optional(),
        /** At most so many; 1000 unless said. */
        limit: z.number().int().min(1).max(10_000).optional(),
      }),
    result: typeOnly<AuditShown>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "audit show",
    mcp: null,
  },
  verifyAudit: {
    kind: "call",
    input: ({ z }) => z.strictObject({}),
    result: typeOnly<AuditVerified>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "audit verify",
    mcp: null,
  },
  /** The whole of it in one file, with its checkpoint, for somebody who has the public key. */
  exportAudit: {
    kind: "call",
    input: ({ z, path }) => z.strictObject({ output_path: path, overwrite: z.boolean().optional() }),
    result: typeOnly<AuditExported>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "heavy",
    cli: "audit export",
    mcp: null,
  },
  /** What a run did and was allowed, as one signed file. Of one that has ended, as far as it is kept. */
  makeEvidence: {
    kind: "call",
    input: ({ z, identity, path }) =>
      z.strictObject({ identity, output_path: path, overwrite: z.boolean().optional() }),
    result: typeOnly<EvidenceMade>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "heavy",
    cli: "evidence",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
