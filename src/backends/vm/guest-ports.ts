import { join } from "node:path";
import type { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";
import { connectGuest } from "../../guest/connect-guest.ts";
import { DAEMON_PORTS, GATE_PORT, guestSocket } from "./qemu-arguments.ts";

/** The daemon's ports of one machine. Each takes one connection at a time, and the next in turn is taken: one that was just left may not know it yet. */
export class GuestPorts {
  readonly #directory: string;
  readonly #taken = new Set<number>();
  #next: number;

  /** `directory` is the emulator's; `first` is the port to begin with. */
  constructor(directory: string, first = 0) {
    this.#directory = directory;
    this.#next = first;
  }

  /** One that nobody is connected to: in a machine that is saved now it has nothing to say to a host that is gone. */
  get free(): number {
    let port = this.#next;
    for (let tried = 0; tried < DAEMON_PORTS && this.#taken.has(port); tried++) port = (port + 1) % DAEMON_PORTS;
    return port;
  }

  get gateSocket(): string {
    return join(this.#directory, guestSocket(GATE_PORT));
  }

  async connect(signal?: AbortSignal): Promise<GuestClient> {
    const port = this.#take();
    try {
      const client = await connectGuest(join(this.#directory, guestSocket(port)), signal);
      void client.closed.then(() => this.#taken.delete(port));
      return client;
    } catch (error) {
      this.#taken.delete(port);
      throw error;
    }
  }

  #take(): number {
    for (let tried = 0; tried < DAEMON_PORTS; tried++) {
      const port = this.#next;
      this.#next = (this.#next + 1) % DAEMON_PORTS;
      if (this.#taken.has(port)) continue;
      this.#taken.add(port);
      return port;
    }
    throw failure("SANDBOX_LOST", `All ${DAEMON_PORTS} connections to the machine are in use`, { hint: "Try again" });
  }
}
