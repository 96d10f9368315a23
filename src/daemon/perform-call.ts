import type { IncomingMessage } from "node:http";
import type { ClocheError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { failure } from "../model/error-codes.ts";
import { operationRow, type OperationName } from "../model/operations.ts";
import type { Progress } from "../model/progress.ts";
import { withFilledHint } from "./fill-hint.ts";
import type { AnyCallHandler, DaemonHandlers, Handlers } from "./handlers.ts";
import type { Admission } from "./admission.ts";
import type { Connections } from "./connections.ts";
import type { InFlight } from "./in-flight.ts";
import { parseInput } from "./request-body.ts";
import { toFailure } from "./to-failure.ts";

export interface ApiOptions {
  readonly handlers: Handlers & DaemonHandlers;
  readonly version: string;
  readonly inFlight: InFlight;
  readonly connections: Connections;
  readonly admission: Admission;
  readonly log: Log;
}

/** Where a call's answer goes: lines of progress, then its result or its error. */
export interface Answer {
  progress(progress: Progress): void;
  result(result: unknown): void;
  error(error: ClocheError): void;
  /** The same in pieces, each when the one before has left. Resolves when all have, or nobody takes them any more. */
  large(result: unknown): Promise<void>;
}

/** Another version may ask how the daemon is, and tell it to end. */
export function checkVersion(version: string, { headers }: IncomingMessage, name: OperationName): void {
  const theirs = headers["x-cloche-version"];
  if (theirs === version || operationRow(name).about === "daemon") return;
  const asked = theirs === undefined ? "an unknown version" : `cloche ${String(theirs)}`;
  throw failure("DAEMON_VERSION", `The daemon is cloche ${version} and was asked by ${asked}`);
}

const LONG_CHARS = 256 * 1024;

function hasLongText(result: unknown): boolean {
  if (typeof result !== "object" || result === null) return false;
  return Object.values(result).some((one) => typeof one === "string" && one.length > LONG_CHARS);
}

/** Checks the input of a call, does it and answers it. Throws what is wrong before it has begun. */
export async function performCall(
  { handlers, log, admission, connections }: ApiOptions,
  name: OperationName,
  value: unknown,
  { signal, answer }: { signal: AbortSignal; answer: Answer },
): Promise<void> {
  const input = parseInput(name, value);
  log.debug("operation", { operation: name });
  try {
    const place = admission.enter(name, input, signal);
    const { leave, isLarge } = place instanceof Promise ? await place : place;
    try {
      const handler = handlers[name] as AnyCallHandler;
      const result = await handler(input, { signal, progress: (progress) => answer.progress(progress) });
      // SECURITY: an answer that may be large is made while its client takes it (G-25)
      if (isLarge || hasLongText(result)) await answer.large(result);
      else {
        if (!connections.hasRoom) await connections.room();
        answer.result(result);
      }
    } finally {
      leave();
    }
  } catch (error) {
    answer.error(withFilledHint(toFailure(error, name, signal, log), input));
  }
}
