import { failure } from "../model/error-codes.ts";
import type { GuestClient } from "./client.ts";
import { fileError, memberError } from "./file-errors.ts";
import type { GuestProcess } from "./process.ts";
import { protocolError } from "./protocol-error.ts";
import { RecordDecoder, type GuestRecord } from "./records.ts";

export interface BuiltinCall {
  readonly argv: readonly (string | Uint8Array)[];
  readonly user: { readonly uid: number; readonly gid: number };
  /** For messages: `Cannot ACTION "PATH": …`. */
  readonly action: string;
  readonly path: string;
  readonly input?: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined;
  /** Whether an error is about something below `path`, which the guest's message names. */
  readonly namesMember?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ContentRecord = Exclude<GuestRecord, { kind: "error" }>;

/** Work that its host has left behind must not stay in the sandbox for ever. */
const DEFAULT_TIMEOUT_MS = 3_600_000;
/** Lets the builtin remove its temporary file. */
const SIGTERM = 15;

/**
 * Runs a builtin and gives its records up to and with DONE. An ERROR record becomes the error of its errno. A builtin runs as the
 * sandbox's user, so a command there may be able to make it write anything: that ends this call and leaves the connection alone.
 * Leaving early kills the builtin.
 */
export async function* runBuiltin(
  client: GuestClient,
  call: BuiltinCall,
): AsyncGenerator<ContentRecord, void, undefined> {
  if (call.signal?.aborted) throw cancelled(call);
  const process = client.spawn({
    argv: call.argv,
    env: {},
    cwd: "/",
    user: call.user,
    builtin: true,
    stdin: call.input !== undefined,
    timeoutMs: call.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  });
  const input = new InputFeed(process, call.input);
  const onAbort = () => {
    stop(process);
    process.abandonOutput(cancelled(call));
  };
  call.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const decoder = new RecordDecoder();
    for await (const { channel, data } of process.output()) {
      if (channel === "stderr") continue;
      for (const record of decoder.push(data)) {
        // Content that failed is why a builtin was told to end.
        if (record.kind === "error") throw input.failure ?? recordedError(call, record.errno, record.message);
        yield record;
      }
    }
    if (!decoder.finished) await explainEnd(process, call, input);
  } finally {
    call.signal?.removeEventListener("abort", onAbort);
    stop(process);
    input.stop();
  }
}

function recordedError(call: BuiltinCall, errno: number, message: string): Error {
  const make = call.namesMember ? memberError : fileError;
  return make(call.action, call.path, errno, message);
}

/** It ended without DONE or ERROR: throws why. */
async function explainEnd(process: GuestProcess, call: BuiltinCall, input: InputFeed): Promise<never> {
  if (input.failure !== undefined) throw input.failure;
  const exit = await process.exit;
  if (exit.kind === "failed") throw fileError(call.action, call.path, exit.code, exit.message);
  if (exit.timedOut) throw failure("FILE_FAILED", `Cannot ${call.action} "${call.path}": it took too long`);
  if (exit.kind === "signalled") {
    throw failure("FILE_FAILED", `Cannot ${call.action} "${call.path}": it was ended by signal ${exit.code}`);
  }
  throw protocolError("file work that ended without its last record");
}

function cancelled(call: BuiltinCall): Error {
  return failure("CANCELLED", `Cannot ${call.action} "${call.path}": the caller ended it`);
}

function stop(process: GuestProcess): void {
  if (process.done) return;
  process.signal(SIGTERM, "tree");
  process.discardOutput();
}

/** Sends the input beside the reading of the output. Content that fails kills the builtin, so that no part is taken for the whole. */
class InputFeed {
  failure: Error | undefined;
  readonly #process: GuestProcess;
  #stopped = false;

  constructor(process: GuestProcess, input: BuiltinCall["input"]) {
    this.#process = process;
    if (input !== undefined) void this.#feed(input);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #feed(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    try {
      for await (const data of input) {
        await this.#process.write(data);
        if (this.#stopped || this.#process.done) return;
      }
      this.#process.endInput();
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      stop(this.#process);
    }
  }
}
