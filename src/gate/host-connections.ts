import { Socket } from "node:net";
import { getSystemErrorName } from "node:util";

/** The socket of the sandbox's guest program; every other place is known by the port of its door. */
export const GUEST_PLACE = 0;

/** A connection to a place of this host that the order names. */
export type Reach = (place: number) => Promise<Socket>;

interface Answer {
  readonly to: number;
  readonly errno?: number;
}

interface Waiting {
  readonly done: (socket: Socket) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Connections that the gate's keeper makes, because the gate itself can open no socket of the host. Answers come in the order in which was asked. When the keeper
 * is gone, so is the gate.
 */
export function hostConnections(): Reach {
  const waiting = new Map<number, Waiting[]>();
  process.on("message", (given, socket) => {
    const { to, errno } = given as Answer;
    const next = waiting.get(to)?.shift();
    if (socket instanceof Socket) {
      if (next) next.done(socket);
      else socket.destroy();
    } else if (errno !== undefined) {
      const code = getSystemErrorName(-errno);
      next?.fail(Object.assign(new Error(`${code}: the keeper cannot connect`), { code }));
    }
  });
  process.once("disconnect", () => process.exit(1));
  return (place) =>
    new Promise((done, fail) => {
      const line = waiting.get(place) ?? [];
      line.push({ done, fail });
      waiting.set(place, line);
      process.send?.(place);
    });
}
