import { isClocheError, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

/** An extended code; the others are primary ones. */
const FOREIGN_KEY = 787;
const SQLITE = { busy: 5, corrupt: 11, full: 13, notADatabase: 26 } as const;

function extendedCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("rawCode" in error)) return undefined;
  return typeof error.rawCode === "number" ? error.rawCode : undefined;
}

/** The primary result code of SQLite, without the extended bits. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE.busy;

/** What went wrong with the database, in the words of the error list. */
export function toStoreFailure(error: unknown, file: string): Error {
  if (isClocheError(error)) return error;
  const code = resultCode(error);
  if (code === SQLITE.full) {
    return failure("DISK_FULL", `Cannot write "${file}": the disk is full`, { cause: error });
  }
  if (code === SQLITE.corrupt || code === SQLITE.notADatabase) {
    return failure("INTERNAL", `Cannot read "${file}": it is damaged or not a database`, {
      hint: `Move "${file}" away, and "${file}-wal" if it is there; cloche then begins with an empty store`,
      cause: error,
    });
  }
  // Every foreign key names a workspace: it was deleted while something of it was still under way.
  if (extendedCode(error) === FOREIGN_KEY) {
    return failure("WORKSPACE_NOT_FOUND", "The workspace was deleted meanwhile", { cause: error });
  }
  return failure("INTERNAL", `Cannot use "${file}": ${messageOf(error)}`, { cause: error });
}
