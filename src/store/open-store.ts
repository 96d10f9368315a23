import { chmodSync, closeSync, openSync } from "node:fs";
import Database from "libsql";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { commandsTable } from "./commands-table.ts";
import { eventsTable } from "./events-table.ts";
import { migrate, refuseNewerSchema } from "./schema.ts";
import { proposalsTable } from "./proposals-table.ts";
import { sessionTables } from "./session-tables.ts";
import { snapshotsTable } from "./snapshots-table.ts";
import { isBusy, toStoreFailure } from "./store-failure.ts";
import { inTransaction } from "./transaction.ts";
import { workspacesTable } from "./workspaces-table.ts";

/** Two processes that open it at the same moment may refuse each other. A moment later one of them gets it. */
const LOCK_ATTEMPTS = 4;

/**
 * Opens the store and holds it alone until `close` or the end of the process: the kernel drops the lock, however the process ends.
 * So the holder of the store is the one daemon of a home. Answers "locked" at once when another process holds it.
 */
export function openStore(file: string): Store | "locked" {
  makePrivateFile(file);
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS; attempt++) {
    const store = tryOpen(file);
    if (store !== "locked") return store;
    if (attempt < LOCK_ATTEMPTS) pause(1 + Math.random() * 15);
  }
  return "locked";
}

// SECURITY: the store tells what the user runs; SQLite gives its journal the mode of the database (G-14)
function makePrivateFile(file: string): void {
  try {
    // Only a new file is opened here: closing a second descriptor of one that is in use would drop this process's locks on it.
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOSPC") throw failure("DISK_FULL", `Cannot make "${file}": the disk is full`, { cause: error });
    if (code !== "EEXIST") throw failure("INTERNAL", `Cannot make "${file}": ${messageOf(error)}`, { cause: error });
    chmodSync(file, 0o600);
  }
}

function tryOpen(file: string): Store | "locked" {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { timeout: 0 });
    database.pragma("locking_mode = EXCLUSIVE");
    database.exec("BEGIN EXCLUSIVE; COMMIT");
    refuseNewerSchema(database, file);
    database.pragma("journal_mode = WAL");
    // NORMAL: a commit survives the death of the process; only a power cut may take the last ones, and the sandboxes with them.
    database.pragma("synchronous = NORMAL");
    database.pragma("foreign_keys = ON");
    migrate(database);
    return guarded(createStore(database), file);
  } catch (error) {
    if (database) release(database);
    if (isBusy(error)) return "locked";
    throw toStoreFailure(error, file);
  }
}

function createStore(database: Database.Database): Store {
  return {
    ...workspacesTable(database),
    ...snapshotsTable(database),
    ...sessionTables(database),
    ...commandsTable(database),
    ...eventsTable(database),
    ...proposalsTable(database),
    transaction: (work) => inTransaction(database, work),
    close: () => release(database),
  };
}

/**
 * Lets go of the lock. Closing alone does not: statements that are not garbage yet keep the file open, and SQLite gives up an
 * exclusive lock only outside of WAL, with the next read.
 */
function release(database: Database.Database): void {
  if (!database.open) return;
  try {
    database.pragma("journal_mode = DELETE");
    database.pragma("locking_mode = NORMAL");
    database.pragma("user_version");
  } catch {
    // A broken or full file: the lock then goes with the process.
  }
  database.close();
}

/** Every failure of the database leaves as one of the error list. */
function guarded(store: Store, file: string): Store {
  const wrap = (method: (...given: never[]) => unknown) => {
    return (...given: never[]): unknown => {
      try {
        return method(...given);
      } catch (error) {
        throw toStoreFailure(error, file);
      }
    };
  };
  const entries = Object.entries(store) as [string, (...given: never[]) => unknown][];
  return Object.fromEntries(entries.map(([name, method]) => [name, wrap(method)])) as unknown as Store;
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
