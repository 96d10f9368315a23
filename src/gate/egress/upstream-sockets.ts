import type { Socket } from "node:net";

const MAX_SOCKETS = 128;
const MAX_FREE_SOCKETS = 32;
/** Shorter than what servers keep one open for. */
const FREE_MS = 20_000;
const KEEP_ALIVE_MS = 60_000;

/** A connection that somebody uses. */
export interface Taken {
  readonly socket: Socket;
  /** Whether it had been used before, so that the upstream may have closed it meanwhile. */
  readonly isReused: boolean;
}

/** The connections to one upstream: some are used, by one request each, others wait for the next one. */
export class UpstreamSockets {
  readonly #dial: () => Promise<Socket>;
  readonly #silenceMs: number;
  /** The one that was used last is the last. */
  readonly #free: { readonly socket: Socket; readonly since: number }[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Those that are dialled or used. */
  #used = 0;
  #isClosed = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(dial: () => Promise<Socket>, silenceMs: number) {
    this.#dial = dial;
    this.#silenceMs = silenceMs;
  }

  async take(): Promise<Taken> {
    // SECURITY: requests without end open no connections without end (G-28)
    while (this.#used >= MAX_SOCKETS) await new Promise<void>((done) => this.#waiting.push(done));
    this.#used++;
    const known = this.#reuse();
    if (known) return { socket: known, isReused: true };
    try {
      return { socket: this.#prepared(await this.#dial()), isReused: false };
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** After its use. `isWhole`: request and answer are over, and neither was broken off. */
  give(socket: Socket, isWhole: boolean): void {
    this.forget();
    if (!isWhole || this.#isClosed || socket.destroyed || !socket.writable || this.#free.length >= MAX_FREE_SOCKETS) {
      socket.destroy();
      return;
    }
    // SECURITY: what comes before it was asked for is no answer to the next request (G-71)
    socket.on("data", destroyed);
    this.#free.push({ socket, since: performance.now() });
    this.#sweep ??= setInterval(() => this.#sweepFree(), FREE_MS / 4).unref();
  }

  /** One that was taken is somebody else's from now on, and may be silent for as long as that one likes; whether its other end is still there the kernel asks. */
  letGo(socket: Socket): void {
    this.forget();
    socket.setTimeout(0).setKeepAlive(true, KEEP_ALIVE_MS);
  }

  /** One that was taken does not come back. */
  forget(): void {
    this.#used--;
    this.#waiting.shift()?.();
  }

  /** What is used goes on to its end. */
  close(): void {
    this.#isClosed = true;
    for (const { socket } of this.#free.splice(0)) socket.destroy();
    clearInterval(this.#sweep);
  }

  #reuse(): Socket | undefined {
    for (let last = this.#free.pop(); last; last = this.#free.pop()) {
      const { socket } = last;
      socket.off("data", destroyed);
      // Bytes that nobody has read yet came without being asked for, too.
      if (socket.destroyed || !socket.writable || socket.readableLength > 0) {
        socket.destroy();
        continue;
      }
      return socket;
    }
    return undefined;
  }

  #prepared(socket: Socket): Socket {
    socket.on("error", () => socket.destroy());
    socket.setTimeout(this.#silenceMs, () => socket.destroy(new Error("it was silent for too long")));
    return socket;
  }

  #sweepFree(): void {
    const since = performance.now() - FREE_MS;
    while (this.#free[0] && (this.#free[0].since < since || this.#free[0].socket.destroyed))
      this.#free.shift()?.socket.destroy();
    if (this.#free.length > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function destroyed(this: Socket): void {
  this.destroy();
}
