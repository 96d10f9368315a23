import type { ClientRequest } from "node:http";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { CommandStarted, ExecResult } from "../model/exec.ts";
import type { OperationInput } from "../model/operations.ts";
import { cancelled, type DaemonConnection } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { followStream, type OpenedStream } from "./follow-stream.ts";
import { LiveStream, MAX_SILENT_DAEMONS } from "./live-stream.ts";
import type { CommandSignal, CommandStream, OutputChunk } from "./options.ts";

export function openCommandStream(
  connection: DaemonConnection,
  input: OperationInput<"streamWorkspace">,
  signal: AbortSignal | undefined,
): CommandStream {
  return new LiveCommand(connection, input, signal);
}

class LiveCommand implements CommandStream {
  readonly sequence: Promise<number>;
  readonly result: Promise<ExecResult>;
  readonly #connection: DaemonConnection;
  readonly #live: LiveStream;
  readonly #started = deferred<CommandStarted>();
  /** The body of the request that carries standard input, once the daemon listens to it. */
  readonly #input: { body: Promise<ClientRequest>; lost: boolean } | undefined;
  readonly #received = { stdout: 0, stderr: 0 };

  constructor(connection: DaemonConnection, input: OperationInput<"streamWorkspace">, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#live = new LiveStream(signal);
    const body = deferred<ClientRequest>();
    this.#input = input.stdin === true ? { body: body.promise, lost: false } : undefined;
    this.sequence = this.#started.promise.then((started) => started.sequence);
    this.result = this.#run(input, this.#input && body.resolve).finally(() => {
      this.#live.end();
      // Standard input may still be open; nobody reads it any more.
      void this.#input?.body.then((request) => request.destroy()).catch(() => undefined);
    });
    // Each of these may be looked at late or never.
    this.result.catch((error: unknown) => {
      this.#started.reject(error);
      body.reject(error);
    });
    this.sequence.catch(() => undefined);
    body.promise.catch(() => undefined);
  }

  output(): AsyncIterable<OutputChunk> {
    return this.#live.queue.read();
  }

  async write(data: Uint8Array | string): Promise<void> {
    if (this.#input === undefined) throw failure("INVALID_ARGUMENT", "The command was opened without standard input");
    if (this.#input.lost) {
      throw failure("DAEMON_UNREACHABLE", "Standard input was cut off: the daemon ended while the command ran");
    }
    await this.#live.write(await this.#input.body, data);
  }

  endInput(): void {
    void this.#input?.body.then(
      (body) => body.end(),
      () => undefined,
    );
  }

  async signal(name: CommandSignal): Promise<void> {
    await this.#connection.call("signalCommand", { ...(await this.#started.promise), signal: name });
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    await this.#connection.call("resizeCommand", { ...(await this.#started.promise), ...size });
  }

  async close(): Promise<void> {
    await this.#live.close(this.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Follows the command from daemon to daemon until it has ended. */
  async #run(
    input: OperationInput<"streamWorkspace">,
    onInput: ((request: ClientRequest) => void) | undefined,
  ): Promise<ExecResult> {
    const request: { body?: ClientRequest } = {};
    const onTaken = onInput && ((body: ClientRequest) => onInput((request.body = body)));
    let stream: OpenedStream<"streamWorkspace" | "attachCommand"> = await this.#connection.openStream(
      "streamWorkspace",
      input,
      { signal: this.#live.signal, onTaken },
    );
    let started: CommandStarted | undefined;
    for (let silent = 0; silent < MAX_SILENT_DAEMONS; silent++) {
      const before = this.#received.stdout + this.#received.stderr;
      const result = await followStream(stream, {
        started: (info) => this.#started.resolve((started = info)),
        output: (chunk) => this.#receive(chunk),
      });
      request.body?.destroy();
      if (result !== undefined) return result;
      if (this.#live.signal.aborted) throw cancelled(this.#live.signal);
      if (started === undefined) break;
      if (this.#input) this.#input.lost = true;
      if (this.#received.stdout + this.#received.stderr > before) silent = 0;
      const offsets = { stdout_offset: this.#received.stdout, stderr_offset: this.#received.stderr };
      stream = await this.#connection.openStream(
        "attachCommand",
        { ...started, ...offsets },
        { signal: this.#live.signal },
      );
    }
    throw failure("DAEMON_UNREACHABLE", "The daemon ended while the command ran", {
      hint: [way`See what became of it with ${call("logsWorkspace", { workspace_id: input.workspace_id })}`],
    });
  }

  async #receive(chunk: OutputChunk): Promise<void> {
    this.#received[chunk.channel] += chunk.data.length;
    await this.#live.queue.push(chunk);
  }
}
