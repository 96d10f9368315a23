import { errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

/** No answer came. Never leaves the SDK. */
export class ConnectionLost extends Error {
  /** No daemon listens. */
  readonly absent: boolean;
  /** Whether the daemon may have begun the operation. */
  readonly taken: boolean;

  constructor(cause: unknown, state: { absent: boolean; taken: boolean }) {
    super("connection lost", { cause });
    this.absent = state.absent;
    this.taken = state.taken;
  }
}

const ABSENT: readonly (string | undefined)[] = ["ENOENT", "ENOTDIR", "ECONNREFUSED"];

/** What a failure to reach the daemon is to the caller; `taken` when the daemon may have begun before. */
export function lostBy(error: unknown, taken: boolean): Error {
  if (isClocheError(error)) return error;
  if (errnoOf(error) === "EACCES")
    return failure("DAEMON_UNREACHABLE", `Cannot reach the daemon: ${messageOf(error)}`, OWN_FOLDER);
  return new ConnectionLost(error, { absent: !taken && ABSENT.includes(errnoOf(error)), taken });
}

export const OWN_FOLDER = { hint: "Set CLOCHE_HOME to a folder of your own" };
