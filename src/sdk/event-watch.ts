import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import type { ClocheEvent } from "../model/event.ts";
import type { OperationInput } from "../model/operations.ts";
import { cancelled, type DaemonConnection } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { followStream } from "./follow-stream.ts";
import { Handoff } from "./handoff.ts";
import type { EventWatch, WatchOptions } from "./options.ts";

/** Daemons in a row that end as soon as they are asked, and have told nothing. */
const MAX_SHORT_DAEMONS = 3;
const SHORT_MS = 1000;

type Heard = Pick<WatchOptions, "signal" | "onConnection">;

export function watchEvents(
  connection: DaemonConnection,
  input: OperationInput<"watchEvents">,
  options: Heard,
): EventWatch {
  return new LiveWatch(connection, input, options);
}

/** When a daemon ends it goes on with the next one, after the last event that came: each event comes once. */
class LiveWatch implements EventWatch {
  readonly ready: Promise<number>;
  readonly #connection: DaemonConnection;
  readonly #own = new AbortController();
  readonly #signal: AbortSignal;
  readonly #pages = new Handoff<readonly ClocheEvent[]>();
  readonly #ready = deferred<number>();
  readonly #over: Promise<void>;
  readonly #onConnection: (isConnected: boolean) => void;
  #input: OperationInput<"watchEvents">;
  #taken = false;

  constructor(connection: DaemonConnection, input: OperationInput<"watchEvents">, { signal, onConnection }: Heard) {
    this.#connection = connection;
    this.#input = input;
    this.#onConnection = onConnection ?? (() => undefined);
    this.#signal = signal === undefined ? this.#own.signal : AbortSignal.any([signal, this.#own.signal]);
    this.ready = this.#ready.promise;
    // It may be looked at late or never.
    this.ready.catch(() => undefined);
    // What has come is not waited for; only one that was cancelled from outside is told so.
    onAbort(this.#own.signal, () => this.#pages.drop());
    onAbort(signal, () => this.#pages.drop(cancelled(this.#signal)));
    this.#over = this.#run().then(
      () => this.#pages.end(),
      (error: unknown) => {
        this.#ready.reject(error);
        this.#pages.end(error as Error);
      },
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ClocheEvent, void> {
    if (this.#taken) throw new TypeError("the events of one watch may be read once");
    this.#taken = true;
    try {
      for (let page = await this.#pages.take(); page !== undefined; page = await this.#pages.take()) yield* page;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#own.abort();
    await this.#over;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Follows the log from daemon to daemon. */
  async #run(): Promise<void> {
    for (let short = 0; short < MAX_SHORT_DAEMONS; short++) {
      const opened = await this.#connection.openStream("watchEvents", this.#input, { signal: this.#signal });
      this.#onConnection(true);
      const since = performance.now();
      const result = await followStream(opened, {
        event: async ({ events, through }) => {
          // What has come is not asked for again, whether or not somebody has read it.
          this.#input = { ...this.#input, since: through };
          this.#ready.resolve(through);
          if (events.length === 0) return;
          short = -1;
          await this.#pages.put(events);
        },
      });
      if (result?.because === "end") return;
      if (this.#signal.aborted) throw cancelled(this.#signal);
      this.#onConnection(false);
      // The daemon was stopped on purpose, so a watcher does not start the next one.
      if (result !== undefined) await this.#connection.untilListening(this.#signal);
      if (performance.now() - since > SHORT_MS) short = -1;
    }
    throw failure("DAEMON_UNREACHABLE", "The daemon ended again and again while its events were watched");
  }
}
