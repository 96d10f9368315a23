import { failure } from "../model/error-codes.ts";
import type { CommandSignal } from "../sdk/options.ts";
import type { CliIo, HostSignal } from "./io.ts";

const REPEAT_MS = 2000;

export interface ForwardedSignals {
  /** Rejects when a person goes on pressing Ctrl-C although the command was killed: then it is the way to it that hangs. */
  readonly abandoned: Promise<never>;
  stop(): void;
}

/** Passes signals on to the command. The second of a kind within two seconds kills it; after that, the next gives up waiting. */
export function forwardSignals(
  io: Pick<CliIo, "onSignal">,
  send: (name: CommandSignal) => Promise<void>,
  now: () => number = () => performance.now(),
): ForwardedSignals {
  const last = new Map<HostSignal, number>();
  let killed = false;
  let abandon: (error: Error) => void = () => undefined;
  const abandoned = new Promise<never>((_, reject) => (abandon = reject));
  // Nobody may be waiting for it when it comes.
  abandoned.catch(() => undefined);
  const stop = io.onSignal((signal) => {
    const time = now();
    const repeated = time - (last.get(signal) ?? -Infinity) < REPEAT_MS;
    last.set(signal, time);
    if (repeated && killed) {
      abandon(
        failure("CANCELLED", "Stopped waiting for the command", {
          hint: "It may still run: see `cloche workspace list`",
        }),
      );
      return;
    }
    killed ||= repeated;
    // A command that has just ended takes no signal; its exit is on the way.
    send(repeated ? "KILL" : signal).catch(() => undefined);
  });
  return { abandoned, stop };
}
