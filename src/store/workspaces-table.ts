import type Database from "libsql";
import type { Store, StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { inTransaction } from "./transaction.ts";

type Field = keyof StoredWorkspace;
type Value = string | number | null;
type Row = Record<string, Value>;

/** Column of each field. `json` fields are kept as text. */
const COLUMNS: Readonly<Record<Field, { readonly column: string; readonly json?: true }>> = {
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
  limits: { column: "limits", json: true },
  ociRuntime: { column: "oci_runtime" },
  resetCount: { column: "reset_count" },
  seed: { column: "seed", json: true },
  baseline: { column: "baseline" },
  wall: { column: "wall", json: true },
};
const FIELDS = Object.keys(COLUMNS) as Field[];

function toValue(field: Field, value: unknown): Value {
  if (value === null || value === undefined) return null;
  return COLUMNS[field].json ? JSON.stringify(value) : (value as Value);
}

function toWorkspace(row: Row): StoredWorkspace {
  const entries = FIELDS.map((field) => {
    const { column, json } = COLUMNS[field];
    const value = row[column] ?? null;
    return [field, json && typeof value === "string" ? (JSON.parse(value) as unknown) : value];
  });
  return Object.fromEntries(entries) as StoredWorkspace;
}

type WorkspacesTable = Pick<
  Store,
  "insertWorkspace" | "updateWorkspace" | "findWorkspace" | "findByPrefix" | "listWorkspaces" | "deleteWorkspace"
>;

export function workspacesTable(database: Database.Database): WorkspacesTable {
  const columns = FIELDS.map((field) => COLUMNS[field].column).join(", ");
  const insert = database.prepare(`INSERT INTO workspaces (${columns}) VALUES (${FIELDS.map(() => "?").join(", ")})`);
  const find = database.prepare(`SELECT ${columns} FROM workspaces WHERE workspace_id = ?`);
  const list = database.prepare(
    `SELECT ${columns} FROM workspaces ORDER BY last_activity_at DESC, created_at DESC, workspace_id`,
  );
  // A range instead of LIKE: it uses the index, and nothing in the prefix is a wildcard.
  const byPrefix = database.prepare(
    "SELECT workspace_id FROM workspaces WHERE workspace_id >= ?1 AND substr(workspace_id, 1, length(?1)) = ?1 ORDER BY workspace_id LIMIT 2",
  );
  const removeCommands = database.prepare("DELETE FROM commands WHERE workspace_id = ?");
  const remove = database.prepare("DELETE FROM workspaces WHERE workspace_id = ?");

  return {
    insertWorkspace(workspace) {
      insert.run(FIELDS.map((field) => toValue(field, workspace[field])));
    },
    updateWorkspace(workspaceId, fields) {
      const changed = FIELDS.filter((field) => field !== "workspaceId" && Object.hasOwn(fields, field));
      const values = changed.map((field) => toValue(field, (fields as Partial<StoredWorkspace>)[field]));
      // Without a field to change it still says whether the workspace is there.
      const assignments = ["workspace_id", ...changed.map((field) => COLUMNS[field].column)].map(
        (name) => `${name} = ?`,
      );
      const sql = `UPDATE workspaces SET ${assignments.join(", ")} WHERE workspace_id = ?`;
      const { changes } = database.prepare(sql).run([workspaceId, ...values, workspaceId]);
      if (changes === 0) throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${workspaceId}"`);
    },
    findWorkspace(workspaceId) {
      const row = find.get([workspaceId]) as Row | undefined;
      return row && toWorkspace(row);
    },
    findByPrefix(prefix) {
      return (byPrefix.all([prefix]) as { workspace_id: string }[]).map((row) => row.workspace_id);
    },
    listWorkspaces() {
      return (list.all() as Row[]).map(toWorkspace);
    },
    deleteWorkspace(workspaceId) {
      inTransaction(database, () => {
        removeCommands.run([workspaceId]);
        remove.run([workspaceId]);
      });
    },
  };
}
