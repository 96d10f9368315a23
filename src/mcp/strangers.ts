import type { Socket } from "node:net";

/**
 * Connections that have not shown yet that they may be here. There are at most so many: for each one more the oldest goes. A client shows its token with its
 * first bytes, so it is no stranger by the time that others have come.
 */
export class Strangers {
  readonly #most: number;
  readonly #sockets = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.delete(socket));
    // SECURITY: a client that opens connections and sends nothing takes room from others like it, not from clients that are served (G-24, G-25)
    const [oldest] = this.#sockets;
    if (!oldest || this.#sockets.size <= this.#most) return;
    this.#sockets.delete(oldest);
    oldest.destroy();
  }

  delete(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
