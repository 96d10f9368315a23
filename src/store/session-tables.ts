import type Database from "libsql";
import type { Store, StoredService, StoredShell } from "../contracts/store.ts";
import { recordColumns, type RecordColumns, type Row } from "./record-columns.ts";

const SERVICE = recordColumns<StoredService>({
  serviceName: { column: "service_name" },
  command: { column: "command", json: true },
  cwd: { column: "cwd" },
  readiness: { column: "readiness", json: true },
  state: { column: "state" },
  startedAt: { column: "started_at" },
  readyAt: { column: "ready_at" },
  endedAt: { column: "ended_at" },
  exitCode: { column: "exit_code" },
  publishedPorts: { column: "published_ports", json: true },
});

const SHELL = recordColumns<StoredShell>({
  shellId: { column: "shell_id" },
  cwd: { column: "cwd" },
  cols: { column: "cols" },
  rows: { column: "rows" },
  state: { column: "state" },
  exitCode: { column: "exit_code" },
  openedAt: { column: "opened_at" },
});

/** A table of records that belong to a workspace, each with a key of its own there. */
function keyedTable<RecordType extends object>(
  database: Database.Database,
  table: { name: string; key: string; order: string },
  columns: RecordColumns<RecordType>,
) {
  const { names, marks, toRecord } = columns;
  const assignments = names.split(", ").map((name) => `${name} = excluded.${name}`);
  // Not OR REPLACE, which would take the row away and put it at the end.
  const put = database.prepare(
    `INSERT INTO ${table.name} (workspace_id, ${names}) VALUES (?, ${marks})
     ON CONFLICT (workspace_id, ${table.key}) DO UPDATE SET ${assignments.join(", ")}`,
  );
  const find = database.prepare(`SELECT ${names} FROM ${table.name} WHERE workspace_id = ? AND ${table.key} = ?`);
  const list = database.prepare(`SELECT ${names} FROM ${table.name} WHERE workspace_id = ? ORDER BY ${table.order}`);
  const remove = database.prepare(`DELETE FROM ${table.name} WHERE workspace_id = ? AND ${table.key} = ?`);
  return {
    put: (workspaceId: string, record: RecordType): void => {
      put.run([workspaceId, ...columns.toValues(record)]);
    },
    find: (workspaceId: string, key: string): RecordType | undefined => {
      const row = find.get([workspaceId, key]) as Row | undefined;
      return row && toRecord(row);
    },
    list: (workspaceId: string): RecordType[] => (list.all([workspaceId]) as Row[]).map(toRecord),
    remove: (workspaceId: string, key: string): void => {
      remove.run([workspaceId, key]);
    },
  };
}

type SessionTables = Pick<
  Store,
  "putService" | "findService" | "listServices" | "putShell" | "findShell" | "listShells" | "deleteShell"
>;

/** What a workspace has until it is reset, beside its journal. */
export function sessionTables(database: Database.Database): SessionTables {
  const services = keyedTable(database, { name: "services", key: "service_name", order: "service_name" }, SERVICE);
  const shells = keyedTable(database, { name: "shells", key: "shell_id", order: "rowid" }, SHELL);
  return {
    putService: services.put,
    findService: services.find,
    listServices: services.list,
    putShell: shells.put,
    findShell: shells.find,
    listShells: shells.list,
    deleteShell: shells.remove,
  };
}
