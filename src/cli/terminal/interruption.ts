import { constants } from "node:os";
import type { CliIo } from "../io.ts";

export interface Interruption {
  /** Resolves when a signal has come, to the exit code that it would have given. */
  readonly ended: Promise<number>;
  listen(): void;
  /** From here on a signal is somebody else's, until it listens again. */
  stop(): void;
}

/** Once it listens, a signal calls `onSignal` before it ends the program: what stands on the terminal can be put right. */
export function createInterruption(io: Pick<CliIo, "onSignal">, onSignal: () => void): Interruption {
  let stop: (() => void) | undefined;
  let end: (code: number) => void;
  const ended = new Promise<number>((resolve) => (end = resolve));
  return {
    ended,
    listen() {
      stop ??= io.onSignal((signal) => {
        onSignal();
        end(128 + constants.signals[`SIG${signal}`]);
      });
    },
    stop() {
      stop?.();
      stop = undefined;
    },
  };
}
