import type Database from "libsql";
import type { EventBounds, EventFilter } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import type { ClocheEvent, EventKind, EventOf } from "../model/event.ts";

interface Row {
  readonly sequence: number;
  readonly time: number;
  readonly kind: EventKind;
  readonly workspace_id: string | null;
  readonly identity: string | null;
  readonly payload: string;
}

/** What an event takes beside its payload: the columns, and its entries in the indexes. */
const ROW_BYTES = 120;
// SECURITY: what waits for a watcher that does not read is bounded (G-25)
const MAX_PAGE_BYTES = 128 * 1024;
/** Of a workspace's session; a summary shows the newest few. */
const MAX_SESSION_EVENTS = 5000;
const COLUMNS = "sequence, time, kind, workspace_id, identity, payload";
const BEGINNINGS = "'workspace.created', 'workspace.forked', 'workspace.reset'";

function toEvent({ sequence, time, kind, workspace_id, identity, payload }: Row): ClocheEvent {
  return {
    sequence,
    time,
    kind,
    workspace_id,
    identity,
    ...(JSON.parse(payload) as object),
  } as ClocheEvent;
}

/** As many as a page has room for, and one at least. */
function withinBytes(rows: readonly Row[]): readonly Row[] {
  let left = MAX_PAGE_BYTES;
  const over = rows.findIndex(({ payload }, index) => (left -= payload.length + ROW_BYTES) < 0 && index > 0);
  return over < 0 ? rows : rows.slice(0, over);
}

type EventsTable = Pick<
  Store,
  "appendEvent" | "readEvents" | "eventBounds" | "findDeletion" | "listSessionEvents" | "dropEvents"
>;

/** The log. The newest event is never removed, so that the next sequence, which SQLite takes from it, has never been given before. */
export function eventsTable(database: Database.Database): EventsTable {
  const insert = database.prepare(
    `INSERT INTO events (time, kind, workspace_id, identity, payload, end_bytes)
     VALUES (?, ?, ?, ?, ?, ? + coalesce((SELECT end_bytes FROM events ORDER BY sequence DESC LIMIT 1), 0))`,
  );
  const pageOf = (where: string) =>
    database.prepare(`SELECT ${COLUMNS} FROM events WHERE ${where} sequence > ? ORDER BY sequence LIMIT ?`);
  const ofAll = pageOf("");
  const ofWorkspace = pageOf("workspace_id = ? AND");
  const ofIdentity = pageOf("identity = ? AND");
  const ofBoth = pageOf("workspace_id = ? AND identity = ? AND");
  const bounds = database.prepare(
    "SELECT (SELECT min(sequence) FROM events) AS oldest, (SELECT max(sequence) FROM events) AS newest",
  );
  const deletionBy = (where: string) =>
    database.prepare(
      `SELECT ${COLUMNS} FROM events WHERE ${where} AND kind = 'workspace.deleted' ORDER BY sequence DESC LIMIT 1`,
    );
  const deletionById = deletionBy("workspace_id = ?");
  const deletionByName = deletionBy("json_extract(payload, '$.name') = ?");
  const session = new Map<string, Database.Statement>();
  const endOf = database.prepare("SELECT end_bytes FROM events WHERE sequence = ?");
  const front = database.prepare(
    "SELECT sequence, time, end_bytes FROM events WHERE sequence < ? ORDER BY sequence LIMIT ?",
  );
  const remove = database.prepare("DELETE FROM events WHERE sequence <= ?");

  const eventBounds = (): EventBounds => {
    const { oldest, newest } = bounds.get([]) as { oldest: number | null; newest: number | null };
    return { oldest: oldest ?? 1, newest: newest ?? 0 };
  };

  const page = ({ workspaceId, identity }: EventFilter, since: number, limit: number): Row[] => {
    if (workspaceId !== undefined && identity !== undefined)
      return ofBoth.all([workspaceId, identity, since, limit]) as Row[];
    if (workspaceId !== undefined) return ofWorkspace.all([workspaceId, since, limit]) as Row[];
    if (identity !== undefined) return ofIdentity.all([identity, since, limit]) as Row[];
    return ofAll.all([since, limit]) as Row[];
  };

  return {
    appendEvent(event) {
      const { time, kind, workspace_id, identity, ...payload } = event;
      const text = JSON.stringify(payload);
      insert.run([time, kind, workspace_id, identity, text, Buffer.byteLength(text) + ROW_BYTES]);
    },
    readEvents(since, filter, limit) {
      const { newest } = eventBounds();
      const found = page(filter, since, limit);
      const rows = withinBytes(found);
      // A page that is not full has seen the whole rest, whatever was not asked for in it.
      const isFull = found.length === limit || rows.length < found.length;
      const through = isFull ? (rows.at(-1)?.sequence ?? since) : Math.max(since, newest);
      const { kinds } = filter;
      return { events: (kinds ? rows.filter(({ kind }) => kinds.has(kind)) : rows).map(toEvent), through };
    },
    eventBounds,
    findDeletion(by) {
      const row = "name" in by ? deletionByName.get([by.name]) : deletionById.get([by.workspaceId]);
      return row === undefined ? undefined : (toEvent(row as Row) as EventOf<"workspace.deleted">);
    },
    listSessionEvents<Kind extends EventKind>(workspaceId: string, kinds: readonly Kind[]) {
      const marks = kinds.map(() => "?").join(", ");
      const list =
        session.get(marks) ??
        database.prepare(
          `SELECT ${COLUMNS} FROM events WHERE workspace_id = ? AND kind IN (${marks}) AND sequence > coalesce(
             (SELECT max(sequence) FROM events WHERE workspace_id = ? AND kind IN (${BEGINNINGS})), 0)
           ORDER BY sequence DESC LIMIT ${MAX_SESSION_EVENTS}`,
        );
      session.set(marks, list);
      const rows = list.all([workspaceId, ...kinds, workspaceId]) as Row[];
      return rows.toReversed().map(toEvent) as EventOf<Kind>[];
    },
    dropEvents({ sinceTime, maxBytes, keepAfter }, limit) {
      const { newest, oldest } = eventBounds();
      if (newest <= oldest) return 0;
      const { end_bytes: end } = endOf.get([newest]) as { end_bytes: number };
      const surplus = end - maxBytes;
      // Only from the old end on, for as long as each is too old: one whose clock was ahead keeps those after it, until there is too much.
      const isOver = (row: { sequence: number; time: number; end_bytes: number }) =>
        row.sequence <= keepAfter
          ? row.time < sinceTime || row.end_bytes <= surplus
          : row.end_bytes <= surplus - maxBytes;
      const first = front.all([newest, 1]) as { sequence: number; time: number; end_bytes: number }[];
      if (!first[0] || !isOver(first[0])) return 0;
      const rows = front.all([newest, limit]) as typeof first;
      const kept = rows.findIndex((row) => !isOver(row));
      const dropped = kept < 0 ? rows : rows.slice(0, kept);
      return remove.run([dropped.at(-1)?.sequence ?? 0]).changes;
    },
  };
}
