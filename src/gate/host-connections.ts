import { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { getSystemErrorName } from "node:util";

/** The socket of the sandbox's guest program; every other place is known by the port of its door. */
export const GUEST_PLACE = 0;

/** A connection to a place of this host that the order names. */
export type Reach = (place: number) => Promise<Socket>;

/** A program of the host that the order names, started by the keeper for one conversation. It ends when `talk` is closed. */
export interface ReachedProgram {
  /** Its standard input and output. */
  readonly talk: Duplex;
  /** Its standard error. */
  readonly said: Readable;
}
export type ReachProgram = (place: number) => Promise<ReachedProgram>;

/** Doors of the sandbox that its guest program lends, by numbers that the gate chooses: the last sixteen bits are the port. */
export interface Borrowing {
  /** No answer comes: where it cannot be lent, nothing does. */
  borrow(door: number): void;
  onLent(take: (door: number, socket: Socket) => void): void;
}

interface Answer {
  readonly to: number;
  readonly errno?: number;
}

/** Of the porter, for each connection. */
interface LetIn {
  readonly door: number;
}

const isLetIn = (given: object): given is LetIn => "door" in given;

/** Above all places and programs. */
const FIRST_DOOR = 131_072;

interface Waiting {
  /** Answers with a socket each. */
  readonly wanted: number;
  readonly got: Socket[];
  readonly done: (sockets: Socket[]) => void;
  readonly fail: (error: Error) => void;
}

/** What the keeper connects a gate to. */
export interface HostPlaces extends Borrowing {
  readonly reach: Reach;
  readonly reachProgram: ReachProgram;
}

/**
 * Connections that the gate's keeper makes, because the gate itself can open no socket of the host. Answers come in the order in which was asked. When the keeper
 * is gone, so is the gate.
 */
export function hostConnections(): HostPlaces {
  const waiting = new Map<number, Waiting[]>();
  let takeLent = (_door: number, socket: Socket): void => void socket.destroy();
  process.on("message", (given: Answer | LetIn, socket) => {
    if (isLetIn(given)) {
      if (socket instanceof Socket) takeLent(given.door, socket);
      return;
    }
    const { to, errno } = given;
    const line = waiting.get(to);
    const next = line?.[0];
    if (socket instanceof Socket) {
      if (!next) {
        socket.destroy();
        return;
      }
      next.got.push(socket);
      if (next.got.length < next.wanted) return;
      line.shift();
      next.done(next.got);
    } else if (errno !== undefined) {
      line?.shift();
      const code = getSystemErrorName(-errno);
      next?.fail(Object.assign(new Error(`${code}: the keeper cannot connect`), { code }));
    }
  });
  process.once("disconnect", () => process.exit(1));
  const ask = (place: number, wanted: number): Promise<Socket[]> =>
    new Promise((done, fail) => {
      const line = waiting.get(place) ?? [];
      line.push({ wanted, got: [], done, fail });
      waiting.set(place, line);
      process.send?.(place);
    });
  const missing = (): never => {
    throw new Error("the keeper gave no socket");
  };
  return {
    reach: async (place) => (await ask(place, 1))[0] ?? missing(),
    borrow: (door) => void process.send?.(FIRST_DOOR + door),
    onLent: (take) => (takeLent = take),
    async reachProgram(place) {
      const [talk = missing(), said = missing()] = await ask(place, 2);
      return { talk, said };
    },
  };
}
