import type Database from "libsql";

/** All of `work` or nothing; within another transaction it is a part of that. */
export function inTransaction<Result>(database: Database.Database, work: () => Result): Result {
  // Asked of a closed database, `inTransaction` ends the process.
  if (!database.open) throw new Error("the store is closed");
  return database.inTransaction ? work() : transact(database, work);
}

function transact<Result>(database: Database.Database, work: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite has already rolled back after some errors, a full disk among them; a second ROLLBACK would hide the first error.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
