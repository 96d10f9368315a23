import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { openSocketAddress } from "../base/unix-path.ts";
import type { HostTarget } from "../model/door.ts";

/** Both sides of a connection through a door. */
export interface Relayed {
  /** Resolves when nothing of it is left. */
  readonly over: Promise<unknown>;
  destroy(): void;
}

/**
 * Carries one connection of a door to its target on this host, both ways, until both sides have ended. Each side is read only as the other takes it. When one
 * breaks, or the target does not answer, both are closed. Throws when there can be no such target.
 */
export function relayConnection(guest: Duplex, to: HostTarget): Relayed {
  const host = dial(to);
  const over = Promise.all([closed(guest, host), closed(host, guest)]);
  guest.pipe(host).pipe(guest);
  return { over, destroy: () => guest.destroy() };
}

function dial(to: HostTarget): Duplex {
  if (to.kind === "tcp") return connect({ host: "127.0.0.1", port: to.port, allowHalfOpen: true, noDelay: true });
  const address = openSocketAddress(to.path);
  return connect({ path: address.path, allowHalfOpen: true }).once("close", address.release);
}

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
