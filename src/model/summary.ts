import type { EventOf } from "./event.ts";
import type { Command, JournalEntry } from "./exec.ts";
import type { ChangeStatus, DiffEntry } from "./files.ts";
import type { ModelUsageTotal } from "./model-usage.ts";
import type { ServiceState } from "./service.ts";
import type { Shell } from "./shell.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Labels } from "./workspace.ts";

/** A command without its output. */
export interface CommandOutline {
  sequence: number;
  /** `exit_code` means something only when it is `done`. */
  state: JournalEntry["state"];
  command: Command;
  exit_code: number;
  timed_out: boolean;
  duration_ms: number;
  started_at: number;
}

export interface Summary {
  workspace_id: string;
  name: string | null;
  labels: Labels;
  environment: string;
  state: string;
  last_activity_at: number;
  /** When the workspace was created, or last reset. */
  session_started_at: number;
  outcome: {
    command_count: number;
    last_command: CommandOutline | null;
    service_count: number;
    running_service_count: number;
    shell_count: number;
    export_count: number;
    snapshot_count: number;
    reset_count: number;
  };
  commands: { total: number; recent: CommandOutline[] };
  edits: { recent: EventOf<"file.written" | "patch.applied" | "sync.pushed">[] };
  changes: {
    available: boolean;
    reason: string | null;
    changed: boolean;
    summary: { total: number } & Record<ChangeStatus, number>;
    /** At most 200: what the baseline has comes first, then what is small. */
    entries: Omit<DiffEntry, "patch" | "omitted">[];
    /** Changes that the project's ignore rules cover; they are not counted in `summary`. */
    ignored_count: number;
  };
  services: {
    current: { service_name: string; state: ServiceState; exit_code: number | null }[];
    recent: EventOf<"service.started" | "service.ready" | "service.ended">[];
  };
  /** Those that there are, ended ones among them until they are closed. */
  shells: { current: Pick<Shell, "shell_id" | "state" | "cwd" | "opened_at">[] };
  artifacts: { exports: { workspace_path: string; output_path: string; artifact_type: string; at: number }[] };
  snapshots: { named_count: number; recent: Snapshot[] };
  /** Tokens that models took through its gate. */
  model_usage: ModelUsageTotal;
}
