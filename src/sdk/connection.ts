import type { ClientRequest } from "node:http";
import { onAbort } from "../base/on-abort.ts";
import { daemonSocket } from "../base/paths.ts";
import { failure } from "../model/error-codes.ts";
import {
  type CallName,
  operationRow,
  type OperationInput,
  type OperationName,
  type OperationResult,
  type StreamName,
} from "../model/operations.ts";
import { STREAM_CONTENT_TYPE } from "../model/stream-frames.ts";
import { readError } from "./answer.ts";
import { CallPool } from "./call-pool.ts";
import { ConnectionLost } from "./connection-lost.ts";
import type { OpenedStream } from "./follow-stream.ts";
import { exchange, SocketAgent } from "./http-exchange.ts";
import type { LongCallOptions } from "./options.ts";
import { startDaemon, type DaemonStart } from "./start-daemon.ts";
import { untilListening } from "./until-listening.ts";

/** Enough for two daemons that end on the way, each leaving a connection that looks alive. */
const MAX_ATTEMPTS = 6;

export interface StreamRequest {
  signal: AbortSignal;
  /** The body stays open; `onTaken` gets it once the daemon listens to it, and the body of each further attempt. */
  onTaken?: ((request: ClientRequest) => void) | undefined;
}

interface Persistent<Result> {
  operation: OperationName;
  signal: AbortSignal | undefined;
  attempt: () => Promise<Result>;
  start: boolean;
}

/** The way to the daemon of one home: finds it, starts it, asks it. */
export class DaemonConnection {
  readonly #start: DaemonStart;
  readonly #calls: CallPool;
  readonly #streams: SocketAgent;
  #starting: Promise<void> | undefined;
  #closed = false;

  constructor(start: DaemonStart) {
    this.#start = start;
    const socket = daemonSocket(start.places.home);
    this.#calls = new CallPool(new SocketAgent(socket, { keepAlive: false }));
    // Kept alive so that the daemon does not close it with its last frame: what we still write would break the connection, and that frame be lost.
    this.#streams = new SocketAgent(socket, { keepAlive: true });
  }

  /** Of whoever uses this client. */
  get env(): DaemonStart["env"] {
    return this.#start.env;
  }

  async call<Name extends CallName>(
    operation: Name,
    input: OperationInput<Name>,
    options: LongCallOptions = {},
  ): Promise<OperationResult<Name>> {
    const attempt = () => this.#ask(operation, input, options);
    return await this.#persist({ operation, signal: options.signal, attempt, start: true });
  }

  /** Asks only a daemon that runs; undefined when there is none. */
  async callRunning<Name extends CallName>(
    operation: Name,
    input: OperationInput<Name>,
    options: LongCallOptions = {},
  ): Promise<OperationResult<Name> | undefined> {
    const attempt = () => this.#ask(operation, input, options);
    try {
      return await this.#persist({ operation, signal: options.signal, attempt, start: false });
    } catch (error) {
      if (error instanceof ConnectionLost) return undefined;
      throw error;
    }
  }

  /** Opens a streamed answer; an error that comes before its first frame is thrown. */
  async openStream<Name extends StreamName>(
    operation: Name,
    input: OperationInput<Name>,
    { signal, onTaken }: StreamRequest,
  ): Promise<OpenedStream<Name>> {
    const body = Buffer.from(`${JSON.stringify(input)}\n`);
    const attempt = async () => {
      const open = onTaken === undefined ? {} : { open: true, onTaken };
      const response = await exchange({ agent: this.#streams, operation, body, signal, ...open });
      if (response.headers["content-type"] === STREAM_CONTENT_TYPE) return { operation, response };
      throw await readError(response);
    };
    return await this.#persist({ operation, signal, attempt, start: true });
  }

  /** Resolves when somebody has started a daemon, or the signal is aborted. */
  async untilListening(signal: AbortSignal): Promise<void> {
    await untilListening(daemonSocket(this.#start.places.home), signal);
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#calls.close();
    this.#streams.destroy();
    return Promise.resolve();
  }

  async #ask<Name extends CallName>(
    operation: Name,
    input: OperationInput<Name>,
    { signal, onProgress }: LongCallOptions,
  ): Promise<OperationResult<Name>> {
    return (await this.#calls.ask({ operation, input }, { signal, onProgress })) as OperationResult<Name>;
  }

  /** Repeats an attempt for as long as that cannot do anything twice. Throws `ConnectionLost` when there is no daemon and none is to be started. */
  async #persist<Result>({ operation, signal, attempt, start }: Persistent<Result>): Promise<Result> {
    for (let count = 1; ; count++) {
      throwIfAborted(signal);
      this.#throwIfClosed();
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        throwIfAborted(signal);
        this.#throwIfClosed();
        if (error.absent && !start) throw error;
        if (count === MAX_ATTEMPTS || (error.taken && !operationRow(operation).repeatable)) throw unreachable(error);
        // What lies idle leads to the same daemon: another attempt is to make a connection of its own.
        for (const agent of [this.#calls, this.#streams]) agent.dropIdle();
        if (error.absent) await unlessAborted(this.#startOnce(), signal);
      }
    }
  }

  #throwIfClosed(): void {
    if (this.#closed) throw failure("CANCELLED", "The client is closed", { hint: "Make a new client" });
  }

  /** One start at a time in this process; the store's lock sees to it between processes. */
  #startOnce(): Promise<void> {
    this.#starting ??= startDaemon(this.#start).finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }
}

export function cancelled(signal: AbortSignal): Error {
  return failure("CANCELLED", "The operation was cancelled", { cause: signal.reason });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled(signal);
}

function unreachable(lost: ConnectionLost): Error {
  return failure("DAEMON_UNREACHABLE", "The daemon ended before it answered", { cause: lost.cause });
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    work.then(resolve, reject).finally(onAbort(signal, () => reject(cancelled(signal))));
  });
}
