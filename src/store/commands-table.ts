import type Database from "libsql";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { Command, JournalEntry } from "../model/exec.ts";
import type { CommandOutline } from "../model/summary.ts";
import { inTransaction } from "./transaction.ts";

type Value = string | number | Buffer;
type Row = Record<keyof JournalEntry, Value>;

const FIELDS = [
  "workspace_id",
  "sequence",
  "state",
  "started_at",
  "command",
  "cwd",
  "exit_code",
  "stdout",
  "stderr",
  "stdout_truncated",
  "stderr_truncated",
  "timed_out",
  "duration_ms",
  "execution_mode",
] as const satisfies readonly (keyof JournalEntry)[];

const NEXT_SEQUENCE =
  "(SELECT coalesce(max(sequence), 0) + 1 FROM commands WHERE commands.workspace_id = workspaces.workspace_id)";

/** Output may hold NUL, which SQLite's text does not carry through: it is kept as bytes. */
function toValue(field: keyof JournalEntry, value: unknown): Value {
  if (field === "stdout" || field === "stderr") return Buffer.from(value as string, "utf8");
  if (field === "command") return JSON.stringify(value);
  return typeof value === "boolean" ? Number(value) : (value as Value);
}

function toEntry(row: Row): JournalEntry {
  return {
    workspace_id: row.workspace_id as string,
    sequence: row.sequence as number,
    state: row.state as JournalEntry["state"],
    started_at: row.started_at as number,
    command: JSON.parse(row.command as string) as Command,
    cwd: row.cwd as string,
    exit_code: row.exit_code as number,
    stdout: Buffer.from(row.stdout as Buffer).toString("utf8"),
    stderr: Buffer.from(row.stderr as Buffer).toString("utf8"),
    stdout_truncated: row.stdout_truncated === 1,
    stderr_truncated: row.stderr_truncated === 1,
    timed_out: row.timed_out === 1,
    duration_ms: row.duration_ms as number,
    execution_mode: row.execution_mode as JournalEntry["execution_mode"],
  };
}

const OUTLINE = ["sequence", "state", "command", "exit_code", "timed_out", "duration_ms", "started_at"] as const;

function toOutline(row: Pick<Row, (typeof OUTLINE)[number]>): CommandOutline {
  return {
    sequence: row.sequence as number,
    state: row.state as JournalEntry["state"],
    command: JSON.parse(row.command as string) as Command,
    exit_code: row.exit_code as number,
    timed_out: row.timed_out === 1,
    duration_ms: row.duration_ms as number,
    started_at: row.started_at as number,
  };
}

/** Of commands whose output is left out. */
const OUTPUTLESS: Partial<Record<keyof JournalEntry, string>> = {
  stdout: "x'' AS stdout",
  stderr: "x'' AS stderr",
  stdout_truncated: "(stdout_truncated OR length(stdout) > 0) AS stdout_truncated",
  stderr_truncated: "(stderr_truncated OR length(stderr) > 0) AS stderr_truncated",
};

type CommandsTable = Pick<
  Store,
  | "beginCommand"
  | "insertCommand"
  | "endCommand"
  | "listCommands"
  | "findCommand"
  | "recentCommands"
  | "countCommands"
  | "outlineCommands"
  | "listRunningCommands"
>;

export function commandsTable(database: Database.Database): CommandsTable {
  const columns = FIELDS.join(", ");
  // One statement is one transaction: the journal is on the path of every command, so it has no more of them than it needs.
  const insert = database.prepare(
    `INSERT INTO commands (${columns})
     SELECT ${FIELDS.map((field) => (field === "sequence" ? NEXT_SEQUENCE : "?")).join(", ")} FROM workspaces WHERE workspace_id = ?`,
  );
  const insertWhole = database.prepare(
    `INSERT INTO commands (${columns}) VALUES (${FIELDS.map(() => "?").join(", ")})`,
  );
  const inserted = database.prepare("SELECT sequence FROM commands WHERE rowid = ?");
  const updates = new Map<string, Database.Statement>();
  const touch = database.prepare(
    "UPDATE workspaces SET last_activity_at = max(last_activity_at, ?) WHERE workspace_id = ?",
  );
  const list = database.prepare(`SELECT ${columns} FROM commands WHERE workspace_id = ? ORDER BY sequence`);
  const find = database.prepare(`SELECT ${columns} FROM commands WHERE workspace_id = ? AND sequence = ?`);
  const sizes = database.prepare(
    "SELECT sequence, length(stdout) + length(stderr) AS bytes FROM commands WHERE workspace_id = ? ORDER BY sequence DESC LIMIT ?",
  );
  const since = database.prepare(
    `SELECT ${columns} FROM commands WHERE workspace_id = ? AND sequence >= ? ORDER BY sequence`,
  );
  const outputless = FIELDS.map((field) => OUTPUTLESS[field] ?? field).join(", ");
  const before = database.prepare(
    `SELECT ${outputless} FROM commands WHERE workspace_id = ? AND sequence >= ? AND sequence < ? ORDER BY sequence`,
  );
  const count = database.prepare("SELECT count(*) AS number FROM commands WHERE workspace_id = ?");
  const outline = database.prepare(
    `SELECT ${OUTLINE.join(", ")} FROM commands WHERE workspace_id = ? ORDER BY sequence DESC LIMIT ?`,
  );
  const running = database.prepare(
    `SELECT ${columns} FROM commands WHERE state = 'running' ORDER BY workspace_id, sequence`,
  );

  return {
    beginCommand(workspaceId, entry) {
      const whole: Omit<JournalEntry, "sequence"> = { ...entry, workspace_id: workspaceId, state: "running" };
      const values = FIELDS.flatMap((field) => (field === "sequence" ? [] : [toValue(field, whole[field])]));
      const { changes, lastInsertRowid } = insert.run([...values, workspaceId]);
      if (changes === 0) throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${workspaceId}"`);
      return (inserted.get([lastInsertRowid]) as { sequence: number }).sequence;
    },
    insertCommand(workspaceId, entry) {
      insertWhole.run(FIELDS.map((field) => toValue(field, { ...entry, workspace_id: workspaceId }[field])));
    },
    endCommand(workspaceId, sequence, entry, activityAt) {
      const whole: Partial<JournalEntry> = { state: "done", ...entry };
      const changed = FIELDS.filter(
        (field) => field !== "workspace_id" && field !== "sequence" && whole[field] !== undefined,
      );
      const assignments = changed.map((field) => `${field} = ?`).join(", ");
      inTransaction(database, () => {
        const sql = `UPDATE commands SET ${assignments} WHERE workspace_id = ? AND sequence = ?`;
        const values = changed.map((field) => toValue(field, whole[field]));
        const update = updates.get(sql) ?? database.prepare(sql);
        updates.set(sql, update);
        const { changes } = update.run([...values, workspaceId, sequence]);
        if (changes === 0) {
          throw failure("COMMAND_NOT_FOUND", `Workspace "${workspaceId}" has no command ${sequence}`);
        }
        touch.run([activityAt, workspaceId]);
      });
    },
    listCommands(workspaceId) {
      return (list.all([workspaceId]) as Row[]).map(toEntry);
    },
    findCommand(workspaceId, sequence) {
      const row = find.get([workspaceId, sequence]) as Row | undefined;
      return row && toEntry(row);
    },
    recentCommands(workspaceId, { count: most, outputBytes }) {
      const found = sizes.all([workspaceId, most]) as { sequence: number; bytes: number }[];
      const first = found.at(-1)?.sequence ?? 0;
      let left = outputBytes;
      const whole = found.findIndex(({ bytes }) => (left -= bytes) < 0);
      const from = whole < 0 ? first : (found[whole]?.sequence ?? 0) + 1;
      const rows = [...before.all([workspaceId, first, from]), ...since.all([workspaceId, from])] as Row[];
      return rows.map(toEntry);
    },
    countCommands(workspaceId) {
      return (count.get([workspaceId]) as { number: number }).number;
    },
    outlineCommands(workspaceId, limit) {
      return (outline.all([workspaceId, limit]) as Row[]).map(toOutline).toReversed();
    },
    listRunningCommands() {
      return (running.all() as Row[]).map(toEntry);
    },
  };
}
