import type { Socket } from "node:net";
import type { Borrowing } from "./host-connections.ts";

const PORTS = 65_536;
/** As many links as a number has room for; by the time that one comes again, nothing of the first is left. */
const LINKS = 32_768;

/**
 * Connections through doors that the guest program has lent, as the gate's porter accepts them. They are sockets of the sandbox's own network, and no program is in
 * between. They belong to one link to a guest program, and end with it, as all that comes through doors does.
 */
export class LentDoors {
  readonly #places: Borrowing;
  readonly #letIn: (port: number, socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  #link = 0;

  constructor(places: Borrowing, letIn: (port: number, socket: Socket) => void) {
    this.#places = places;
    this.#letIn = letIn;
    places.onLent((door, socket) => this.#take(door, socket));
  }

  /** A door that is open on the link that there is. Where it cannot be lent, its connections come as they did. */
  borrow(port: number): void {
    this.#places.borrow(this.#link * PORTS + port);
  }

  /** The link is over. What comes for it later is nobody's. */
  end(): void {
    this.#link = (this.#link + 1) % LINKS;
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(door: number, socket: Socket): void {
    // A loss that nobody listens for must not bring the program down.
    socket.on("error", () => undefined);
    // SECURITY: what was let in for a sandbox that is gone does not get what the next one may (G-191)
    if (Math.floor(door / PORTS) !== this.#link) {
      socket.destroy();
      return;
    }
    socket.allowHalfOpen = true;
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#letIn(door % PORTS, socket);
  }
}
