import type Database from "libsql";
import { failure } from "../model/error-codes.ts";
import { inTransaction } from "./transaction.ts";

/** One step for each version; steps are only ever added. `PRAGMA user_version` counts the steps taken. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE workspaces (
    workspace_id TEXT PRIMARY KEY,
    name TEXT,
    labels TEXT NOT NULL,
    environment TEXT NOT NULL,
    backend TEXT NOT NULL,
    state TEXT NOT NULL,
    state_reason TEXT,
    network_policy TEXT NOT NULL,
    created_at REAL NOT NULL,
    last_activity_at REAL NOT NULL,
    ttl_seconds REAL NOT NULL,
    limits TEXT NOT NULL,
    oci_runtime TEXT,
    reset_count INTEGER NOT NULL,
    seed TEXT NOT NULL,
    baseline TEXT NOT NULL,
    wall TEXT
  );
  CREATE TABLE commands (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    state TEXT NOT NULL,
    started_at REAL NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    stdout BLOB NOT NULL,
    stderr BLOB NOT NULL,
    stdout_truncated INTEGER NOT NULL,
    stderr_truncated INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    execution_mode TEXT NOT NULL,
    PRIMARY KEY (workspace_id, sequence)
  );
  CREATE INDEX commands_running ON commands (workspace_id, sequence) WHERE state = 'running';
  `,
  `
  ALTER TABLE workspaces ADD COLUMN layers TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE workspaces ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE workspaces ADD COLUMN session_started_at REAL NOT NULL DEFAULT 0;
  ALTER TABLE workspaces ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
  UPDATE workspaces SET session_started_at = created_at;
  CREATE TABLE snapshots (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id) ON DELETE CASCADE,
    snapshot_name TEXT NOT NULL,
    created_at REAL NOT NULL,
    size_bytes INTEGER NOT NULL,
    layers TEXT NOT NULL,
    PRIMARY KEY (workspace_id, snapshot_name)
  );
  CREATE TABLE services (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id) ON DELETE CASCADE,
    service_name TEXT NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    readiness TEXT,
    state TEXT NOT NULL,
    started_at REAL NOT NULL,
    ready_at REAL,
    ended_at REAL,
    exit_code INTEGER,
    published_ports TEXT NOT NULL,
    PRIMARY KEY (workspace_id, service_name)
  );
  CREATE TABLE shells (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id) ON DELETE CASCADE,
    shell_id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    cols INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    state TEXT NOT NULL,
    exit_code INTEGER,
    PRIMARY KEY (workspace_id, shell_id)
  );
  CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id) ON DELETE CASCADE,
    event TEXT NOT NULL
  );
  CREATE INDEX events_of_workspace ON events (workspace_id, position);
  `,
  "ALTER TABLE workspaces ADD COLUMN idempotency_key TEXT",
  "ALTER TABLE snapshots ADD COLUMN session TEXT",
  "ALTER TABLE workspaces ADD COLUMN doors TEXT NOT NULL DEFAULT '[]'",
  // Events outlive their workspace. `end_bytes` counts what was ever written up to an event's end, so that the size of the log is a difference.
  `
  ALTER TABLE events RENAME TO session_events;
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    workspace_id TEXT,
    identity TEXT,
    payload TEXT NOT NULL,
    end_bytes INTEGER NOT NULL
  );
  INSERT INTO events (sequence, time, kind, workspace_id, payload, end_bytes)
    SELECT
      row_number() OVER (ORDER BY position),
      json_extract(event, '$.at'),
      CASE json_extract(event, '$.kind')
        WHEN 'file_write' THEN 'file.written'
        WHEN 'patch_apply' THEN 'patch.applied'
        WHEN 'sync_push' THEN 'sync.pushed'
        WHEN 'export' THEN 'export.made'
        WHEN 'snapshot_create' THEN 'snapshot.created'
        WHEN 'snapshot_delete' THEN 'snapshot.deleted'
        WHEN 'service_start' THEN 'service.started'
        ELSE 'service.ended'
      END,
      workspace_id,
      CASE json_extract(event, '$.kind')
        WHEN 'patch_apply' THEN json_set(json_remove(event, '$.kind', '$.at'), '$.file_count', json_array_length(event, '$.files'))
        WHEN 'snapshot_create' THEN json_set(json_remove(event, '$.kind', '$.at'), '$.live', json('false'), '$.size_bytes', 0)
        WHEN 'service_start' THEN json_set(json_remove(event, '$.kind', '$.at', '$.exit_code'), '$.command', '')
        WHEN 'service_stop' THEN json_set(json_remove(event, '$.kind', '$.at'), '$.state', 'stopped')
        WHEN 'service_failed' THEN json_set(json_remove(event, '$.kind', '$.at'), '$.state', 'failed')
        ELSE json_remove(event, '$.kind', '$.at')
      END,
      sum(length(event)) OVER (ORDER BY position)
    FROM session_events;
  DROP TABLE session_events;
  CREATE INDEX events_of_workspace ON events (workspace_id, sequence, kind) WHERE workspace_id IS NOT NULL;
  CREATE INDEX events_of_identity ON events (identity, sequence, kind) WHERE identity IS NOT NULL;
  `,
  `
  ALTER TABLE workspaces ADD COLUMN keep TEXT NOT NULL DEFAULT 'false';
  ALTER TABLE workspaces ADD COLUMN grace_seconds REAL;
  ALTER TABLE workspaces ADD COLUMN expired TEXT;
  ALTER TABLE workspaces ADD COLUMN unchanged TEXT NOT NULL DEFAULT 'false';
  ALTER TABLE shells ADD COLUMN opened_at REAL;
  CREATE INDEX workspaces_by_name ON workspaces (name) WHERE name IS NOT NULL;
  CREATE INDEX events_of_deletion ON events (json_extract(payload, '$.name'), sequence) WHERE kind = 'workspace.deleted';
  `,
  `
  ALTER TABLE workspaces ADD COLUMN base_layers TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE workspaces ADD COLUMN fork_layers TEXT;
  UPDATE workspaces SET seed = json_insert(seed, '$.left_out', json('null'), '$.included', json('null'));
  `,
  "ALTER TABLE workspaces ADD COLUMN allow_hosts TEXT NOT NULL DEFAULT '[]'",
  `
  ALTER TABLE workspaces ADD COLUMN egress TEXT;
  ALTER TABLE workspaces ADD COLUMN model_usage TEXT NOT NULL DEFAULT '{"total":{"requests":0,"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0},"session":{"requests":0,"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0}}';
  `,
  // Proposals outlive their workspace, so they belong to none.
  `
  CREATE TABLE proposals (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    proposal_id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_at REAL NOT NULL,
    document TEXT NOT NULL
  );
  CREATE INDEX proposals_of_workspace ON proposals (workspace_id, status);
  CREATE INDEX proposals_by_status ON proposals (status, sequence);
  CREATE TABLE approval_rules (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    rule_id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL
  );
  `,
];

function schemaVersion(database: Database.Database): number {
  const [row] = database.pragma("user_version") as { user_version: number }[];
  return row?.user_version ?? 0;
}

export function refuseNewerSchema(database: Database.Database, file: string): void {
  const version = schemaVersion(database);
  if (version <= MIGRATIONS.length) return;
  throw failure("INTERNAL", `Cannot use "${file}": a newer cloche wrote it (schema ${version})`, {
    hint: "Upgrade cloche, or set CLOCHE_HOME to another folder",
  });
}

/** Brings a database to the newest schema. */
export function migrate(database: Database.Database): void {
  const version = schemaVersion(database);
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue;
    inTransaction(database, () => {
      database.exec(sql);
      database.exec(`PRAGMA user_version = ${index + 1}`);
    });
  }
}
