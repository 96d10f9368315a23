import type { ClientRequest } from "node:http";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import type { RunEnd } from "../model/run.ts";
import { cancelled, type DaemonConnection } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { followStream } from "./follow-stream.ts";
import { LiveStream, MAX_SILENT_DAEMONS } from "./live-stream.ts";
import type { OutputChunk, RunAttachment, RunSignal } from "./options.ts";

export function openAttachment(
  connection: DaemonConnection,
  input: OperationInput<"attachRun">,
  signal: AbortSignal | undefined,
): RunAttachment {
  return new AttachedRun(connection, input, signal);
}

/** A client's end of a run. When a daemon dies it goes on with the next one; the agent does not notice. */
class AttachedRun implements RunAttachment {
  readonly result: Promise<RunEnd>;
  readonly #connection: DaemonConnection;
  readonly #live: LiveStream;
  /** Resolves when the first daemon listens; `#body` is then the request that what is typed goes to. */
  readonly #taken = deferred<undefined>();
  readonly #received = { stdout: 0, stderr: 0 };
  #input: OperationInput<"attachRun">;
  #body: ClientRequest | undefined;
  #leaving = false;

  constructor(connection: DaemonConnection, input: OperationInput<"attachRun">, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#input = input;
    this.#live = new LiveStream(signal);
    this.result = this.#run().finally(() => {
      this.#live.end();
      this.#body?.destroy();
      this.#taken.resolve(undefined);
    });
    // It may be looked at late or never.
    this.result.catch(() => undefined);
  }

  output(): AsyncIterable<OutputChunk> {
    return this.#live.queue.read();
  }

  async write(data: Uint8Array | string): Promise<void> {
    await this.#taken.promise;
    if (!this.#leaving) await this.#live.write(this.#body, data);
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    // Also for a daemon that has to be asked anew.
    this.#input = { ...this.#input, terminal: size };
    await this.#connection.call("resizeRun", { identity: this.#input.identity, ...size });
  }

  async signal(name: RunSignal): Promise<void> {
    await this.#connection.call("signalRun", { identity: this.#input.identity, signal: name });
  }

  endInput(): void {
    this.#leaving = true;
    void this.#taken.promise.then(() => this.#body?.end());
  }

  async close(): Promise<void> {
    await this.#live.close(this.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Follows the run from daemon to daemon until it has ended or is left. */
  async #run(): Promise<RunEnd> {
    const { identity } = this.#input;
    for (let silent = 0; silent < MAX_SILENT_DAEMONS; silent++) {
      const stream = await this.#connection.openStream("attachRun", this.#input, {
        signal: this.#live.signal,
        onTaken: (body) => this.#take(body),
      });
      const result = await followStream(stream, {
        started: () => undefined,
        output: async (chunk) => {
          silent = 0;
          this.#received[chunk.channel] += chunk.data.length;
          await this.#live.queue.push(chunk);
        },
      });
      this.#body?.destroy();
      if (result !== undefined) return result;
      if (this.#live.signal.aborted) throw cancelled(this.#live.signal);
      // At a terminal the next daemon begins with the last screenful; output apart goes on where it was.
      const { stdout: stdout_offset, stderr: stderr_offset } = this.#received;
      this.#input = { ...this.#input, cursor: undefined, stdout_offset, stderr_offset };
    }
    throw failure("DAEMON_UNREACHABLE", "The daemon ended while the run was attached", {
      hint: `Attach to it again with \`cloche attach ${identity}\``,
    });
  }

  #take(body: ClientRequest): void {
    this.#body = body;
    this.#taken.resolve(undefined);
    if (this.#leaving) body.end();
  }
}
