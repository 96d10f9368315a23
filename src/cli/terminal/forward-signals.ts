import { failure } from "../../model/error-codes.ts";
import type { CliIo, HostSignal } from "../io.ts";

const REPEAT_MS = 2000;
/** How long a command that was killed may take to be gone, and the news of it to come. */
const KILL_PATIENCE_MS = 1000;

export interface ForwardedSignals {
  /** Rejects when a command that was killed does not end: then it is the daemon or the sandbox that does not answer. */
  readonly abandoned: Promise<never>;
  stop(): void;
}

/**
 * Passes signals on to the command. The second of a kind kills it: Ctrl-C when it comes within two seconds, since a program may use the first for something
 * of its own; the others whenever they come. A user who presses Ctrl-C twice does not wait for an answer that may never come.
 */
export function forwardSignals(
  io: Pick<CliIo, "onSignal">,
  send: (name: HostSignal | "KILL") => Promise<void>,
  now: () => number = () => performance.now(),
): ForwardedSignals {
  const last = new Map<HostSignal, number>();
  const unanswered = new Set<Promise<void>>();
  let patience: NodeJS.Timeout | undefined;
  let abandon: () => void = () => undefined;
  const abandoned = new Promise<never>((_, reject) => {
    abandon = () =>
      reject(
        failure("CANCELLED", "Stopped waiting for the command", {
          hint: "It may still run: see `cloche workspace list`",
        }),
      );
  });
  // Nobody may be waiting for it when it comes.
  abandoned.catch(() => undefined);
  const pass = (name: HostSignal | "KILL") => {
    const sent: Promise<void> = send(name)
      // A command that has just ended takes no signal; its exit is on the way.
      .catch(() => undefined)
      .finally(() => unanswered.delete(sent));
    unanswered.add(sent);
  };
  const stop = io.onSignal((signal) => {
    const time = now();
    const before = last.get(signal);
    last.set(signal, time);
    const isSecond = before !== undefined && (signal !== "INT" || time - before < REPEAT_MS || unanswered.size > 0);
    if (isSecond && patience) abandon();
    if (isSecond) patience ??= setTimeout(abandon, KILL_PATIENCE_MS);
    pass(isSecond ? "KILL" : signal);
  });
  return {
    abandoned,
    stop: () => {
      stop();
      clearTimeout(patience);
    },
  };
}
