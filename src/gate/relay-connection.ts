import { type Socket, connect } from "node:net";
import type { Duplex } from "node:stream";
import type { HostTarget } from "../model/door.ts";

/** Both sides of a connection through a door. */
export interface Relayed {
  /** Resolves when nothing of it is left. */
  readonly over: Promise<unknown>;
  destroy(): void;
}

/**
 * Carries one connection of a door to its target on this host, both ways, until both sides have ended. Each side is read only as the other takes it. When one
 * breaks, or the target does not answer, both are closed. `reach` connects to a unix socket.
 */
export function relayConnection(guest: Duplex, to: HostTarget, reach: () => Promise<Socket>): Relayed {
  return { over: carry(guest, to, reach), destroy: () => guest.destroy() };
}

async function carry(guest: Duplex, to: HostTarget, reach: () => Promise<Socket>): Promise<void> {
  let host: Socket;
  const gone = new AbortController();
  guest.once("close", () => gone.abort()).once("error", () => gone.abort());
  try {
    host = to.kind === "tcp" ? dial(to.port) : await reach();
  } catch {
    guest.destroy();
    return;
  }
  host.allowHalfOpen = true;
  const over = Promise.all([closed(guest, host), closed(host, guest)]);
  guest.pipe(host).pipe(guest);
  // What broke while it was connected to has nobody to tell any more.
  if (gone.signal.aborted) host.destroy();
  await over;
}

const dial = (port: number): Socket => connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true });

/** One that has ended both ways has given the other all it had, which may still be writing it; one that has not takes it along. */
function closed(side: Duplex, other: Duplex): Promise<void> {
  return new Promise((done) => {
    side.once("error", () => other.destroy());
    side.once("close", () => {
      if (!side.readableEnded || !side.writableFinished) other.destroy();
      done();
    });
  });
}
