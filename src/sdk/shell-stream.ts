import type { ClientRequest } from "node:http";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Shell } from "../model/shell.ts";
import { cancelled, type DaemonConnection } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { followStream } from "./follow-stream.ts";
import { LiveStream, MAX_SILENT_DAEMONS } from "./live-stream.ts";
import type { ShellStream } from "./options.ts";

export function openShellStream(
  connection: DaemonConnection,
  input: OperationInput<"attachShell">,
  signal: AbortSignal | undefined,
): ShellStream {
  return new AttachedShell(connection, input, signal);
}

/** A terminal's end of a shell. When a daemon dies it goes on with the next one; what was typed in that moment may be lost. */
class AttachedShell implements ShellStream {
  readonly result: Promise<Shell>;
  readonly #connection: DaemonConnection;
  readonly #live: LiveStream;
  /** Resolves when the first daemon listens; `#body` is then the request that what is typed goes to. */
  readonly #taken = deferred<undefined>();
  #input: OperationInput<"attachShell">;
  #body: ClientRequest | undefined;
  #leaving = false;

  constructor(connection: DaemonConnection, input: OperationInput<"attachShell">, signal: AbortSignal | undefined) {
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

  async *output(): AsyncGenerator<Buffer, void> {
    for await (const { data } of this.#live.queue.read()) yield data;
  }

  async write(data: Uint8Array | string): Promise<void> {
    await this.#taken.promise;
    if (!this.#leaving) await this.#live.write(this.#body, data);
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    // Also for a daemon that has to be asked anew.
    this.#input = { ...this.#input, ...size };
    const { workspace_id, shell_id } = this.#input;
    await this.#connection.call("resizeShell", { workspace_id, shell_id, ...size });
  }

  endInput(): void {
    this.#leaving = true;
    void this.#taken.promise.then(() => this.#body?.end());
  }

  async detach(): Promise<Shell> {
    this.endInput();
    // The last output is not worth waiting for a reader.
    this.#live.queue.drop();
    return await this.result;
  }

  async close(): Promise<void> {
    await this.#live.close(this.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Follows the shell from daemon to daemon until it has ended or is left. */
  async #run(): Promise<Shell> {
    for (let silent = 0; silent < MAX_SILENT_DAEMONS; silent++) {
      const stream = await this.#connection.openStream("attachShell", this.#input, {
        signal: this.#live.signal,
        onTaken: (body) => this.#take(body),
      });
      const result = await followStream(stream, {
        started: () => undefined,
        output: async (chunk) => {
          silent = 0;
          await this.#live.queue.push(chunk);
        },
      });
      this.#body?.destroy();
      if (result !== undefined) return result;
      if (this.#live.signal.aborted) throw cancelled(this.#live.signal);
      // What came was redacted, so its length tells no place in the output: the next daemon begins with the last screenful.
      this.#input = { ...this.#input, cursor: undefined };
    }
    const { workspace_id, shell_id } = this.#input;
    throw failure("DAEMON_UNREACHABLE", "The daemon ended while the shell was attached", {
      hint: [way`Attach to it again with ${call("attachShell", { workspace_id, shell_id })}`],
    });
  }

  #take(body: ClientRequest): void {
    this.#body = body;
    this.#taken.resolve(undefined);
    if (this.#leaving) body.end();
  }
}
