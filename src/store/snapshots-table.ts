import type Database from "libsql";
import type { Store, StoredSnapshot } from "../contracts/store.ts";
import { recordColumns, type Row } from "./record-columns.ts";

const COLUMNS = recordColumns<StoredSnapshot>({
  snapshotName: { column: "snapshot_name" },
  createdAt: { column: "created_at" },
  sizeBytes: { column: "size_bytes" },
  layers: { column: "layers", json: true },
  session: { column: "session", json: true },
});

type SnapshotsTable = Pick<
  Store,
  "insertSnapshot" | "findSnapshot" | "listSnapshots" | "deleteSnapshot" | "listLayers"
>;

export function snapshotsTable(database: Database.Database): SnapshotsTable {
  const { names, marks, toRecord } = COLUMNS;
  const insert = database.prepare(
    `INSERT INTO snapshots (workspace_id, ${names}) VALUES (?, ${marks}) ON CONFLICT DO NOTHING`,
  );
  const find = database.prepare(`SELECT ${names} FROM snapshots WHERE workspace_id = ? AND snapshot_name = ?`);
  // By the row's number too: two of the same moment keep their order.
  const list = database.prepare(`SELECT ${names} FROM snapshots WHERE workspace_id = ? ORDER BY created_at, rowid`);
  const remove = database.prepare("DELETE FROM snapshots WHERE workspace_id = ? AND snapshot_name = ?");
  const layers =
    database.prepare(`SELECT layers FROM workspaces UNION SELECT base_layers FROM workspaces UNION SELECT fork_layers FROM workspaces WHERE fork_layers IS NOT NULL
     UNION SELECT layers FROM snapshots`);

  return {
    insertSnapshot(workspaceId, snapshot) {
      return insert.run([workspaceId, ...COLUMNS.toValues(snapshot)]).changes > 0;
    },
    findSnapshot(workspaceId, snapshotName) {
      const row = find.get([workspaceId, snapshotName]) as Row | undefined;
      return row && toRecord(row);
    },
    listSnapshots(workspaceId) {
      return (list.all([workspaceId]) as Row[]).map(toRecord);
    },
    deleteSnapshot(workspaceId, snapshotName) {
      return remove.run([workspaceId, snapshotName]).changes > 0;
    },
    listLayers() {
      const rows = layers.all() as { layers: string }[];
      return new Set(rows.flatMap((row) => JSON.parse(row.layers) as string[]));
    },
  };
}
