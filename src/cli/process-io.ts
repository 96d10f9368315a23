import { fstatSync, statSync } from "node:fs";
import { devNull } from "node:os";
import { isatty } from "node:tty";
import type { CliIo, HostSignal } from "./io.ts";
import { programName } from "./program-name.ts";

const SIGNALS: readonly HostSignal[] = ["INT", "TERM", "HUP"];

function hasPipedInput(): boolean {
  try {
    const input = fstatSync(0);
    return !isatty(0) && !(input.isCharacterDevice() && input.rdev === statSync(devNull).rdev);
  } catch {
    // A closed descriptor has nothing to pass on.
    return false;
  }
}

/** The real process. A reader that went away is noticed where the write fails, so the streams' own error events say nothing new. */
export function processIo(): CliIo {
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  return {
    // A getter, because touching process.stdin opens it.
    get stdin() {
      return process.stdin;
    },
    hasPipedInput,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    program: programName(process.argv[1]),
    onSignal(handler) {
      const listeners = SIGNALS.map((signal) => [`SIG${signal}` as const, () => handler(signal)] as const);
      for (const [name, listener] of listeners) process.on(name, listener);
      return () => {
        for (const [name, listener] of listeners) process.off(name, listener);
      };
    },
    async connect() {
      const { Cloche } = await import("../sdk/cloche.ts");
      return new Cloche();
    },
  };
}
