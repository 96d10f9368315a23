import type { AuditExported, AuditShown, AuditVerified } from "../model/audit.ts";
import type { EvidenceMade } from "../model/evidence.ts";
import { ApprovalCalls } from "./approval-calls.ts";
import { ask } from "./ask.ts";
import type { DaemonConnection } from "./connection.ts";
import type { ClientParts } from "./installation-calls.ts";
import { resolveHostPath } from "./on-this-host.ts";
import type { CallOptions, EvidenceOptions, ExportAuditOptions, ShowAuditOptions } from "./options.ts";

/** The calls of whoever answers for what agents do, beside those of whoever answers agents. */
export class AuditCalls extends ApprovalCalls {
  readonly #connection: DaemonConnection;

  constructor(parts: ClientParts) {
    super(parts);
    this.#connection = parts.connection;
  }

  /** The newest entries of the audit, with all that has happened up to now. */
  async showAudit(options: ShowAuditOptions = {}): Promise<AuditShown> {
    return await ask(this.#connection, "showAudit", {}, options);
  }

  /** Whether the audit is as it was written; else the first entry that is not. */
  async verifyAudit(options: CallOptions = {}): Promise<AuditVerified> {
    return await this.#connection.call("verifyAudit", {}, options);
  }

  /** Writes the audit and its checkpoint to a file of this host, for somebody who has the public key. */
  async exportAudit(options: ExportAuditOptions): Promise<AuditExported> {
    const output_path = resolveHostPath(options.output_path);
    return await ask(this.#connection, "exportAudit", { output_path }, options);
  }

  /** Writes what a run did and was allowed to a signed file of this host; of one that has ended, as far as it is kept. */
  async makeEvidence(identity: string, options: EvidenceOptions): Promise<EvidenceMade> {
    const output_path = resolveHostPath(options.output_path);
    return await ask(this.#connection, "makeEvidence", { identity, output_path }, options);
  }
}
