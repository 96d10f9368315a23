import { onAbort } from "../../base/on-abort.ts";
import { DAEMON_STOPPING } from "../handlers.ts";

/** A synchronous verb as an operation: what it throws becomes a rejection. */
export async function settle<Result>(verb: () => Result): Promise<Result> {
  return await Promise.resolve().then(verb);
}

/** Aborted when the client leaves, but not when the daemon does: then the command goes on, and the next daemon takes it up. */
export function whenClientLeaves(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  onAbort(signal, () => {
    if (signal.reason !== DAEMON_STOPPING) own.abort(signal.reason);
  });
  return own.signal;
}
