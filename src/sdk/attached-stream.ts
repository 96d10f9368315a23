import type { ClientRequest } from "node:http";
import type { ClocheError } from "../base/errors.ts";
import type { OperationInput, OperationResult } from "../model/operations.ts";
import { cancelled, type DaemonConnection } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { followStream, type StreamFollower } from "./follow-stream.ts";
import { LiveStream, MAX_SILENT_DAEMONS } from "./live-stream.ts";
import type { OutputChunk } from "./options.ts";

type AttachName = "attachRun" | "attachShell";

/** What differs between the operations that attach. */
interface Attaching<Name extends AttachName> {
  readonly operation: Name;
  /** What the next daemon is asked, when one has ended after so many bytes. */
  again(input: OperationInput<Name>, received: Readonly<Record<OutputChunk["channel"], number>>): OperationInput<Name>;
  /** When daemon after daemon has ended in silence. */
  gaveUp(input: OperationInput<Name>): ClocheError;
}

/**
 * A client's end of a terminal that goes on without it. When a daemon dies it goes on with the next one, which is given what is typed meanwhile; what the
 * first one had and not handed on is lost.
 */
export class AttachedStream<Name extends AttachName> implements AsyncDisposable {
  readonly result: Promise<OperationResult<Name>>;
  /** What the daemon is asked, also one that has to be asked anew. */
  protected input: OperationInput<Name>;
  protected readonly connection: DaemonConnection;
  protected readonly live: LiveStream;
  /** Resolves with the request that what is typed goes to, when a daemon listens; with none at the end. */
  #taken = deferred<ClientRequest | undefined>();
  #body: ClientRequest | undefined;
  #leaving = false;

  constructor(
    connection: DaemonConnection,
    attaching: Attaching<Name>,
    input: OperationInput<Name>,
    signal: AbortSignal | undefined,
  ) {
    this.connection = connection;
    this.input = input;
    this.live = new LiveStream(signal);
    this.result = this.#follow(attaching).finally(() => {
      this.live.end();
      this.#body?.destroy();
      this.#taken.resolve(undefined);
    });
    // It may be looked at late or never.
    this.result.catch(() => undefined);
  }

  async write(data: Uint8Array | string): Promise<void> {
    for (;;) {
      const body = await this.#taken.promise;
      if (this.#leaving || body === undefined || (await this.live.write(body, data))) return;
      this.#lost(body);
    }
  }

  endInput(): void {
    this.#leaving = true;
    void this.#taken.promise.then((body) => body?.end());
  }

  async close(): Promise<void> {
    await this.live.close(this.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** From daemon to daemon, until it has ended or is left. */
  async #follow(attaching: Attaching<Name>): Promise<OperationResult<Name>> {
    const received = { stdout: 0, stderr: 0 };
    let silent = 0;
    const follower: StreamFollower<AttachName> = {
      started: () => undefined,
      output: async (chunk: OutputChunk) => {
        silent = 0;
        received[chunk.channel] += chunk.data.length;
        await this.live.queue.push(chunk);
      },
    };
    for (; silent < MAX_SILENT_DAEMONS; silent++) {
      const { signal } = this.live;
      const stream = await this.connection.openStream(attaching.operation, this.input, {
        signal,
        onTaken: this.#take,
      });
      const result = await followStream<AttachName>(stream, follower);
      this.#body?.destroy();
      this.#lost(this.#body);
      if (result !== undefined) return result as OperationResult<Name>;
      if (signal.aborted) throw cancelled(signal);
      this.input = attaching.again(this.input, received);
    }
    throw attaching.gaveUp(this.input);
  }

  /** The daemon of that request has ended: whoever types waits for the next one. */
  #lost(body: ClientRequest | undefined): void {
    if (body === undefined || this.#body !== body) return;
    this.#body = undefined;
    this.#taken = deferred();
  }

  readonly #take = (body: ClientRequest): void => {
    this.#body = body;
    this.#taken.resolve(body);
    if (this.#leaving) body.end();
  };
}
