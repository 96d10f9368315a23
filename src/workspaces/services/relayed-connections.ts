import type { Socket } from "node:net";

/**
 * Connections to published ports, which any user of this host can open. There are at most so many: for each one more the one goes that has been silent for the
 * longest time, so that a client that holds many of them does not keep the others out.
 */
export class RelayedConnections {
  readonly #most: number;
  /** The longest silent ones first. */
  readonly #sockets = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const [longest] = this.#sockets;
    // SECURITY: a sandbox or another user cannot take all of the host's descriptors through what connects here (G-15, G-25)
    if (!longest || this.#sockets.size <= this.#most) return;
    this.#sockets.delete(longest);
    longest.resetAndDestroy();
  }

  /** To be called for bytes in either direction. */
  touch(socket: Socket): void {
    if (this.#sockets.delete(socket)) this.#sockets.add(socket);
  }
}
