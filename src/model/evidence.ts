import type { EgressFinding } from "./event.ts";
import type { Command } from "./exec.ts";
import type { Diff } from "./files.ts";
import type { ModelUsageTotal } from "./model-usage.ts";

/** What kind of statement it is, for those that read others too. */
export const EVIDENCE_TYPE = "urn:cloche:evidence:v1";
/** What its signature for `ssh-keygen -Y verify` is for. */
export const EVIDENCE_NAMESPACE = "cloche-evidence";

/** How many there were, and the first of them. */
export interface Listed<One> {
  count: number;
  listed: One[];
}

export interface EvidenceRun {
  identity: string;
  workspace_id: string | null;
  agent_name: string | null;
  bottle_names: string[];
  backend: string | null;
  label: string | null;
  operator: string | null;
  environment: string | null;
  environment_digest: string | null;
  started_at: number | null;
  /** When it was last taken up. */
  resumed_at: number | null;
  /** Null while it runs. */
  ended_at: number | null;
  exit_code: number | null;
}

/** What it changed: a patch for `git apply`, and a name and a hash of it among the statement's subjects. */
export type EvidenceDiff =
  | ({ available: true; sha256: string } & Pick<Diff, "changed" | "summary" | "patch" | "omitted">)
  | { available: false; reason: string };

export interface EvidenceHost {
  host: string;
  requests: number;
  denied: number;
  bytes_sent: number;
  bytes_received: number;
}

/** What a run did and was allowed. No value of a secret is in it. */
export interface Evidence {
  made_at: number;
  cloche_version: string;
  run: EvidenceRun;
  /** Of what might leave: at its start, and each change. */
  policy: {
    hash: string | null;
    changes: {
      time: number;
      operator: string | null;
      proposal_id: string | null;
      before_hash: string;
      after_hash: string;
    }[];
  };
  diff: EvidenceDiff;
  commands: Listed<{
    time: number;
    command: Command;
    cwd: string;
    state: string;
    exit_code: number | null;
    duration_ms: number | null;
  }>;
  egress: {
    hosts: Listed<EvidenceHost>;
    denied: Listed<{ time: number; code: string; method: string; host: string; port: number; path: string }>;
  };
  credential_uses: Listed<{ credentials: string[]; host: string; requests: number; first_at: number; last_at: number }>;
  pushes: Listed<{ time: number; outcome: string; repo: string; refs: string[]; reason: string | null }>;
  /** What was asked for, and how it was answered; the words of the events. */
  approvals: Listed<Record<string, unknown>>;
  findings: Listed<EgressFinding & { time: number; host: string; denied: boolean }>;
  model_usage: ModelUsageTotal;
  /** Where the audit tells of it, and how far that has come. */
  audit: { entries: Listed<{ sequence: number; hash: string }>; last: { sequence: number; hash: string } | null };
  /** What is no longer known. */
  missing: string[];
}

/** Answer of `evidence IDENTITY`. */
export interface EvidenceMade {
  identity: string;
  /** The bundle. */
  output_path: string;
  /** Beside it: for `ssh-keygen -Y verify`. */
  signature_path: string;
  /** What others need to verify it. */
  public_key_path: string;
  key_id: string;
  sha256: string;
  size_bytes: number;
  missing: string[];
}

/** Answer of `evidence verify`. */
export interface EvidenceVerified {
  path: string;
  valid: true;
  identity: string;
  made_at: number;
  key_id: string;
  /** `absent`: no such file is beside it; the bundle alone is enough. */
  ssh_signature: "valid" | "absent";
  missing: string[];
}
