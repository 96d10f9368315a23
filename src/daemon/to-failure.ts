import { type ClocheError, errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { failure } from "../model/error-codes.ts";
import { isDaemonStopping } from "../workspaces/caller-leaves.ts";

/** What a client is told of a thrown value. What nobody foresaw, and why a sandbox did not start, goes to the log with its stack. */
export function toFailure(error: unknown, operation: string, signal: AbortSignal, log: Log): ClocheError {
  if (isDaemonStopping(signal)) return failure("DAEMON_UNREACHABLE", "The daemon was stopped", { cause: error });
  if (isClocheError(error)) {
    // Its hint sends the user to the log for the whole of it.
    if (error.code === "SANDBOX_START_FAILED")
      log.warn("a sandbox did not start", { operation, error: describeError(error), details: error.details });
    return error;
  }
  if (signal.aborted) return failure("CANCELLED", "The operation was cancelled", { cause: error });
  if (errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT") {
    return failure("DISK_FULL", `Cannot do ${operation}: the disk is full`, { cause: error });
  }
  log.error("operation failed unexpectedly", { operation, error: describeError(error) });
  return failure("INTERNAL", `Cannot do ${operation}: ${messageOf(error)}`, { cause: error });
}

/** For the log: the stack, and the stacks of what caused it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${describeError(error.cause)}`;
}
