import { onAbort } from "../base/on-abort.ts";

/** Why a call is aborted at the daemon's end: its command is to go on, the next daemon takes it up. */
export const DAEMON_STOPPING = Symbol("the daemon is stopping");

export function isDaemonStopping(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason === DAEMON_STOPPING;
}

/** Aborted when the caller leaves, but not when the daemon does: then the command goes on, and the next daemon takes it up. */
export function whenCallerLeaves(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  onAbort(signal, () => {
    if (signal.reason !== DAEMON_STOPPING) own.abort(signal.reason);
  });
  return own.signal;
}
