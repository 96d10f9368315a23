import { descriptorLimit } from "../base/descriptor-limit.ts";

/** What is known of a connection: as much of a socket as matters here. */
interface Peer {
  readonly writableLength: number;
  readonly destroyed: boolean;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

interface Held {
  /** Calls under way. */
  busy: number;
  /** Of the request, until its call is over. */
  bytes: number;
}

export interface ConnectionLimits {
  readonly connections: number;
  /** Of all requests together. */
  readonly incomingBytes: number;
  /** Of all answers together that their clients have not taken. */
  readonly outgoingBytes: number;
  /** A client that reads nothing of an answer for this long, while others need its room, loses it. */
  readonly stallMs: number;
}

const LOOK_MS = 20;
const MIB = 1024 * 1024;
const LIMITS: ConnectionLimits = {
  connections: Math.min(1024, Math.floor(descriptorLimit() / 4)),
  incomingBytes: 32 * MIB,
  outgoingBytes: 32 * MIB,
  stallMs: 3000,
};

/**
 * The clients that are connected. They are the user's own programs, and still one that opens connections and says nothing, sends half a request, or never takes
 * its answer must not cost the others the daemon: above a limit, those that have been silent for the longest time are closed.
 */
export class Connections<Socket extends Peer = Peer> {
  /** The longest silent ones first. */
  readonly #held = new Map<Socket, Held>();
  readonly #limits: ConnectionLimits;
  #incoming = 0;
  #lastRoom: Promise<void> = Promise.resolve();

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get count(): number {
    return this.#held.size;
  }

  add(socket: Socket): void {
    this.#held.set(socket, { busy: 0, bytes: 0 });
    socket.once("close", () => this.#drop(socket));
    // SECURITY: connections that nobody uses do not add up (G-25)
    if (this.#held.size > this.#limits.connections) this.#end((one, { busy }) => busy === 0 && one !== socket, socket);
  }

  /** More of a request has come. */
  received(socket: Socket, bytes: number): void {
    const held = this.#held.get(socket);
    if (!held) return;
    held.bytes += bytes;
    this.#incoming += bytes;
    this.#touch(socket, held);
    // SECURITY: requests that never come to their end do not add up (G-25)
    while (this.#incoming > this.#limits.incomingBytes) {
      this.#end((one, { busy, bytes: waiting }) => busy === 0 && waiting > 0 && one !== socket, socket);
    }
  }

  /** Nothing of the request is held any longer. */
  complete(socket: Socket): void {
    const held = this.#held.get(socket);
    if (!held) return;
    this.#incoming -= held.bytes;
    held.bytes = 0;
  }

  /** A call is under way. What it gives ends that. */
  begin(socket: Socket): () => void {
    const held = this.#held.get(socket);
    if (!held) return () => undefined;
    held.busy++;
    return () => {
      held.busy--;
      if (this.#held.has(socket)) this.#touch(socket, held);
    };
  }

  /** Whether another answer may be made: not too much of the others still waits for its clients. */
  get hasRoom(): boolean {
    let waiting = 0;
    for (const { writableLength } of this.#held.keys()) waiting += writableLength;
    return waiting <= this.#limits.outgoingBytes;
  }

  /** Resolves when there is room, for one after the other. A client that takes nothing of its answer meanwhile does not get it. */
  async room(): Promise<void> {
    const before = this.#lastRoom;
    const own = (async () => {
      await before;
      const seen = new Map<Socket, { left: number; since: number }>();
      while (!this.hasRoom) {
        this.#endStalled(seen);
        await new Promise((done) => setTimeout(done, LOOK_MS));
      }
    })();
    this.#lastRoom = own;
    await own;
  }

  // SECURITY: answers that nobody takes do not add up (G-25)
  #endStalled(seen: Map<Socket, { left: number; since: number }>): void {
    const now = performance.now();
    for (const socket of [...this.#held.keys()]) {
      const { writableLength: left } = socket;
      const before = seen.get(socket);
      if (left === 0 || before?.left !== left) seen.set(socket, { left, since: now });
      else if (now - before.since > this.#limits.stallMs) {
        this.#drop(socket);
        socket.destroy();
      }
    }
  }

  #touch(socket: Socket, held: Held): void {
    this.#held.delete(socket);
    this.#held.set(socket, held);
  }

  /** Ends the first connection for which `isSo` holds, or `lastResort` when there is none. */
  #end(isSo: (socket: Socket, held: Held) => boolean, lastResort: Socket): void {
    let chosen = lastResort;
    for (const [socket, held] of this.#held) {
      if (!isSo(socket, held)) continue;
      chosen = socket;
      break;
    }
    this.#drop(chosen);
    chosen.destroy();
  }

  #drop(socket: Socket): void {
    this.complete(socket);
    this.#held.delete(socket);
  }
}
