import { constants } from "node:os";
import { onAbort } from "../base/on-abort.ts";
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
  /** Whether it tells paths below `path`, which may be too long to be told. */
  readonly walks?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** After which a builtin that says nothing, while there is nothing else to wait for, is given up. */
  readonly stallMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ContentRecord = Exclude<GuestRecord, { kind: "error" }>;

/** Work that its host has left behind must not stay in the sandbox for ever. */
const DEFAULT_TIMEOUT_MS = 3_600_000;
/** Long work tells every second that it goes on. */
const DEFAULT_STALL_MS = 30_000;
const STALL_CHECKS = 4;
const SIGKILL = 9;
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
  const stopListening = onAbort(call.signal, () => {
    stop(process);
    process.abandonOutput(cancelled(call));
  });
  const stall = watchForStall(process, input, call);
  const decoder = new RecordDecoder();
  try {
    for await (const { channel, data } of process.output()) {
      if (channel === "stderr") continue;
      for (const record of decoder.push(data)) {
        // Content that failed is why a builtin was told to end.
        if (record.kind === "error") throw input.failure ?? recordedError(call, record.errno, record.message);
        yield record;
      }
      // All is done and told; its exit has nothing to add, and nobody need wait for it.
      if (decoder.finished) return;
    }
    await explainEnd(process, call, input);
  } finally {
    stopListening();
    clearInterval(stall);
    if (!decoder.finished) stop(process);
    input.stop();
  }
}

function recordedError(call: BuiltinCall, errno: number, message: string): Error {
  const below = call.namesMember || (call.walks && errno === constants.errno.ENAMETOOLONG);
  const make = below ? memberError : fileError;
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

/**
 * SECURITY: where the builtin has the same user as commands, one of them can stop it; that must not hold a caller for ever (G-08). A slow consumer
 * of the records and a slow producer of the input are no fault of the guest's.
 */
function watchForStall(process: GuestProcess, input: InputFeed, call: BuiltinCall): NodeJS.Timeout {
  const { stallMs = DEFAULT_STALL_MS } = call;
  const period = stallMs / STALL_CHECKS;
  let silent = 0;
  const check = () => {
    // Several looks, because after this program itself was held up what the guest said may still wait to be read.
    silent = Math.min(process.silentMs, input.waitedMs) < period ? 0 : silent + 1;
    if (silent < STALL_CHECKS) return;
    clearInterval(timer);
    process.signal(SIGKILL, "tree");
    process.abandonOutput(
      failure("SANDBOX_LOST", `Cannot ${call.action} "${call.path}": the sandbox does not answer`, {
        hint: "A command in the sandbox may hold up file work; end it, or delete the workspace",
      }),
    );
  };
  const timer = setInterval(check, period);
  timer.unref();
  return timer;
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
  /** Since when the input is the guest's to take, or all sent; undefined while more of it is awaited. */
  #givenAt: number | undefined = 0;

  constructor(process: GuestProcess, input: BuiltinCall["input"]) {
    this.#process = process;
    if (input !== undefined) void this.#feed(input);
  }

  /** Milliseconds for which this has not waited for more input. */
  get waitedMs(): number {
    return this.#givenAt === undefined ? 0 : performance.now() - this.#givenAt;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #feed(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    try {
      this.#givenAt = undefined;
      for await (const data of input) {
        this.#givenAt = performance.now();
        await this.#process.write(data);
        if (this.#stopped || this.#process.done) return;
        this.#givenAt = undefined;
      }
      this.#givenAt = performance.now();
      this.#process.endInput();
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      stop(this.#process);
    }
  }
}
