import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { errnoOf } from "../base/errors.ts";
import { LineSplitter } from "../base/line-splitter.ts";
import { onAbort } from "../base/on-abort.ts";
import { packageVersion } from "../base/version.ts";
import { CALLS_PATH, CALLS_PROTOCOL, type AnswerLine, type CallLine } from "../model/call-lines.ts";
import type { ReportProgress } from "../model/progress.ts";
import { readError, toClocheError } from "./answer.ts";
import { ConnectionLost, lostBy } from "./connection-lost.ts";
import type { SocketAgent } from "./http-exchange.ts";

/** As long as a daemon may take to close a connection that was left. */
const LEAVE_MS = 250;

interface Waiting {
  readonly onProgress: ReportProgress | undefined;
  /** Before either of these. */
  readonly done: () => void;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ReportProgress | undefined;
}

/** A connection to the daemon that carries one call after the other, in lines: a fraction of what a request costs. */
export class CallConnection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #failure: Error | undefined;
  #closed = false;

  /** Throws `ConnectionLost`, or what the daemon has against it. */
  static open(agent: SocketAgent, signal: AbortSignal | undefined): Promise<CallConnection> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(lostBy(error, false));
      try {
        const request = httpRequest({
          agent,
          host: "localhost",
          path: CALLS_PATH,
          headers: { connection: "Upgrade", upgrade: CALLS_PROTOCOL, "x-cloche-version": packageVersion() },
          ...(signal && { signal }),
        });
        request.on("error", fail);
        request.once("response", (response) => void readError(response).then(reject));
        request.once("upgrade", (_response, socket: Socket) => resolve(new CallConnection(socket)));
        request.end();
      } catch (error) {
        // What `createConnection` throws comes out here.
        fail(error);
      }
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const lines = new LineSplitter({ onLine: (line) => this.#take(JSON.parse(line.toString("utf8")) as AnswerLine) });
    socket.on("data", (chunk: Buffer) => {
      try {
        lines.push(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on("error", (error) => (this.#failure = error));
    socket.once("close", () => {
      this.#closed = true;
      this.#settle()?.reject(lostBy(this.#failure, !isUnread(this.#failure)));
    });
  }

  get usable(): boolean {
    return !this.#closed && !this.#socket.destroyed && this.#socket.writable;
  }

  /**
   * One at a time. The signal ends the call, in the daemon too, and closes the connection. A result that is already on its way is still given, because
   * it alone says what was made.
   */
  ask(call: CallLine, { signal, onProgress }: AskOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting = {
        onProgress,
        done: onAbort(signal, () => this.#leave()),
        resolve,
        reject,
      };
      this.#socket.ref();
      this.#socket.write(`${JSON.stringify(call)}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The daemon closes a connection whose client has nothing more to say, after what it has sent. One that does not is left at once. */
  #leave(): void {
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
    socket.once("close", () => clearTimeout(timer));
    socket.end();
  }

  #take(answer: AnswerLine): void {
    if ("progress" in answer) this.#waiting?.onProgress?.(answer.progress);
    else if ("result" in answer) this.#settle()?.resolve(answer.result);
    else if ("error" in answer) this.#settle()?.reject(toClocheError(answer));
    else {
      this.#settle()?.reject(new ConnectionLost("the daemon is ending", { absent: false, taken: false }));
      this.close();
    }
  }

  /** Idle, it does not keep its process from ending. */
  #settle(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#socket.unref();
    waiting?.done();
    return waiting;
  }
}

/** Whether the daemon ended without having read all that was sent: the kernel tells that from an ordinary end. */
function isUnread(error: Error | undefined): boolean {
  const code = errnoOf(error);
  return code === "EPIPE" || (code === "ECONNRESET" && (error as NodeJS.ErrnoException).syscall === "read");
}
