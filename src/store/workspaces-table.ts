import type Database from "libsql";
import type { Store, StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { recordColumns, type Row } from "./record-columns.ts";
import { inTransaction } from "./transaction.ts";

const COLUMNS = recordColumns<StoredWorkspace>({
  workspaceId: { column: "workspace_id" },
  name: { column: "name" },
  labels: { column: "labels", json: true },
  environment: { column: "environment" },
  backend: { column: "backend" },
  state: { column: "state" },
  stateReason: { column: "state_reason" },
  networkPolicy: { column: "network_policy" },
  createdAt: { column: "created_at" },
  lastActivityAt: { column: "last_activity_at" },
  ttlSeconds: { column: "ttl_seconds" },
  keep: { column: "keep", json: true },
  graceSeconds: { column: "grace_seconds" },
  expired: { column: "expired", json: true },
  unchanged: { column: "unchanged", json: true },
  limits: { column: "limits", json: true },
  ociRuntime: { column: "oci_runtime" },
  idempotencyKey: { column: "idempotency_key" },
  resetCount: { column: "reset_count" },
  seed: { column: "seed", json: true },
  baseline: { column: "baseline" },
  layers: { column: "layers", json: true },
  baseLayers: { column: "base_layers", json: true },
  forkLayers: { column: "fork_layers", json: true },
  generation: { column: "generation" },
  sessionStartedAt: { column: "session_started_at" },
  secrets: { column: "secrets", json: true },
  doors: { column: "doors", json: true },
  allowHosts: { column: "allow_hosts", json: true },
  egress: { column: "egress", json: true },
  modelUsage: { column: "model_usage", json: true },
  wall: { column: "wall", json: true },
});

/** What a reset ends. Snapshots and events are not among it. */
const SESSION_TABLES = ["commands", "services", "shells"] as const;

type WorkspacesTable = Pick<
  Store,
  | "insertWorkspace"
  | "updateWorkspace"
  | "findWorkspace"
  | "findByPrefix"
  | "findByName"
  | "findByKey"
  | "listWorkspaces"
  | "deleteWorkspace"
  | "resetWorkspace"
>;

export function workspacesTable(database: Database.Database): WorkspacesTable {
  const { names, marks, toRecord } = COLUMNS;
  const insert = database.prepare(`INSERT INTO workspaces (${names}) VALUES (${marks})`);
  const find = database.prepare(`SELECT ${names} FROM workspaces WHERE workspace_id = ?`);
  const list = database.prepare(
    `SELECT ${names} FROM workspaces ORDER BY last_activity_at DESC, created_at DESC, workspace_id`,
  );
  // A range instead of LIKE: it uses the index, and nothing in the prefix is a wildcard.
  const byPrefix = database.prepare(
    "SELECT workspace_id FROM workspaces WHERE workspace_id >= ?1 AND substr(workspace_id, 1, length(?1)) = ?1 ORDER BY workspace_id LIMIT ?2",
  );
  const byName = database.prepare("SELECT workspace_id FROM workspaces WHERE name = ? ORDER BY workspace_id LIMIT ?");
  const byKey = database.prepare(
    "SELECT workspace_id FROM workspaces WHERE idempotency_key = ? ORDER BY created_at DESC LIMIT 1",
  );
  const clearSession = SESSION_TABLES.map((table) => database.prepare(`DELETE FROM ${table} WHERE workspace_id = ?`));
  const remove = database.prepare("DELETE FROM workspaces WHERE workspace_id = ?");

  const update: Store["updateWorkspace"] = (workspaceId, fields) => {
    const changed = COLUMNS.fields.filter((field) => field !== "workspaceId" && Object.hasOwn(fields, field));
    const values = changed.map((field) => COLUMNS.toValue(field, (fields as Partial<StoredWorkspace>)[field]));
    // Without a field to change it still says whether the workspace is there.
    const assignments = ["workspace_id", ...changed.map((field) => COLUMNS.nameOf(field))].map((name) => `${name} = ?`);
    const sql = `UPDATE workspaces SET ${assignments.join(", ")} WHERE workspace_id = ?`;
    const { changes } = database.prepare(sql).run([workspaceId, ...values, workspaceId]);
    if (changes === 0) throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${workspaceId}"`);
  };

  return {
    insertWorkspace(workspace) {
      insert.run(COLUMNS.toValues(workspace));
    },
    updateWorkspace: update,
    findWorkspace(workspaceId) {
      const row = find.get([workspaceId]) as Row | undefined;
      return row && toRecord(row);
    },
    findByPrefix(prefix, limit) {
      return (byPrefix.all([prefix, limit]) as { workspace_id: string }[]).map((row) => row.workspace_id);
    },
    findByName(name, limit) {
      return (byName.all([name, limit]) as { workspace_id: string }[]).map((row) => row.workspace_id);
    },
    findByKey(key) {
      return (byKey.get([key]) as { workspace_id: string } | undefined)?.workspace_id;
    },
    listWorkspaces() {
      return (list.all() as Row[]).map(toRecord);
    },
    deleteWorkspace(workspaceId) {
      // What belongs to it goes by the foreign keys.
      remove.run([workspaceId]);
    },
    resetWorkspace(workspaceId, fields) {
      inTransaction(database, () => {
        update(workspaceId, fields);
        for (const statement of clearSession) statement.run([workspaceId]);
      });
    },
  };
}
