import type Database from "libsql";
import { failure } from "../model/error-codes.ts";
import { inTransaction } from "./transaction.ts";

/** One step for each version; steps are only ever added. `PRAGMA user_version` counts the steps taken. */
const MIGRATIONS: readonly string[] = [
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
