import { auditPlaces } from "../audit/audit-places.ts";
import type { Auditor } from "../audit/auditor.ts";
import { exportAudit } from "../audit/export-audit.ts";
import { InstallationKey } from "../audit/installation-key.ts";
import { refuseExisting } from "../audit/output-file.ts";
import { auditEntries, verifyAudit, verifyExport } from "../audit/verify-audit.ts";
import { makeEvidence } from "../bottles/make-evidence.ts";
import type { RunParts } from "../bottles/run-parts.ts";
import type { AuditEntry } from "../model/audit.ts";
import type { auditOperations } from "../model/operations/audit-operations.ts";
import type { Handlers } from "./handlers.ts";

const SHOWN = 1000;

/** The operations about what somebody may have to answer for. */
export function auditHandlers(
  parts: RunParts,
  auditor: Auditor,
): Pick<Handlers, keyof typeof auditOperations & keyof Handlers> {
  const { home } = parts.deps;
  const places = auditPlaces(home);
  /** What has happened is in it, where it can be written; else why it cannot. */
  const problem = async (): Promise<Error | undefined> => {
    try {
      await auditor.caughtUp();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return {
    showAudit: async ({ identity, kinds, limit = SHOWN }) => {
      const failed = await problem();
      const wanted = kinds && new Set(kinds);
      let entries: AuditEntry[] = [];
      for await (const entry of auditEntries(places.log)) {
        if ((identity !== undefined && entry.identity !== identity) || wanted?.has(entry.kind) === false) continue;
        entries.push(entry);
        if (entries.length >= 2 * limit) entries = entries.slice(-limit);
      }
      entries = entries.slice(-limit);
      const told = { path: places.log, count: entries.length, entries };
      return { ...told, problem: failed?.message ?? null };
    },
    verifyAudit: async () => {
      const failed = await problem();
      const verified = await verifyAudit(places, InstallationKey.open(home).publicKey);
      // SECURITY: one that looks sound, and lacks what has happened, is not told to be sound (G-111)
      if (verified.valid && failed !== undefined) throw failed;
      return verified;
    },
    exportAudit: async ({ output_path: output, overwrite = false }) => {
      if (!overwrite) await refuseExisting(output);
      await auditor.caughtUp();
      const { publicKey } = InstallationKey.open(home);
      await exportAudit(places, publicKey, output);
      return { ...(await verifyExport(output, publicKey)), output_path: output };
    },
    makeEvidence: (input, context) => makeEvidence(parts, auditor, input, context),
  };
}
