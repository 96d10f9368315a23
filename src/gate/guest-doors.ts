import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { GuestClient } from "../guest/client.ts";
import { connectGuest } from "../guest/connect-guest.ts";
import type { Door, DoorTarget } from "../model/door.ts";
import type { DoorReport } from "../model/gate-control.ts";
import { type Relayed, relayConnection } from "./relay-connection.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Of all doors together. */
const MAX_CONNECTIONS = 256;
/** A sandbox may choose the words of its errors. */
const MAX_REASON = 300;
/** Nobody listens on the guest's socket: its sandbox has ended, and the daemon tells where the next one is. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED"]);

interface OpenDoor {
  to: DoorTarget;
  state: DoorReport["state"];
  reason: string | null;
  /** Aborted when it is not wanted any more. */
  readonly given: AbortController;
  /** In the sandbox, on the connection that there is. */
  opened: AsyncDisposable | undefined;
  readonly connections: Set<Relayed>;
}

/** Keeps a sandbox's doors open: connects to its guest program, and again when the connection breaks, and opens on it what is wanted. */
export class GuestDoors {
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #egress: (stream: Duplex) => Relayed;
  readonly #doors = new Map<number, OpenDoor>();
  #socket: string | null = null;
  #client: GuestClient | undefined;
  #holding = new AbortController();
  #connections = 0;

  constructor(log: Log, egress: (stream: Duplex) => Relayed, onChange: () => void) {
    this.#log = log;
    this.#egress = egress;
    this.#onChange = onChange;
  }

  get reports(): DoorReport[] {
    return [...this.#doors].map(([port, { state, reason }]) => ({ port, state, reason }));
  }

  /** What is wanted from now on. Doors that stay keep their connections, unless the sandbox is another one. */
  set(socket: string | null, wanted: readonly Door[]): void {
    const ports = new Map(wanted.map(({ port, to }) => [port, to]));
    for (const port of this.#doors.keys()) if (!ports.has(port)) this.#remove(port);
    for (const [port, to] of ports) {
      const known = this.#doors.get(port);
      if (known) known.to = to;
      else this.#add(port, to);
    }
    // One that could not be reached any more may be there again under the same name.
    if (socket !== this.#socket || this.#client === undefined) this.#reach(socket);
    this.#onChange();
  }

  #add(port: number, to: DoorTarget): void {
    const door: OpenDoor = {
      to,
      state: "opening",
      reason: null,
      given: new AbortController(),
      opened: undefined,
      connections: new Set(),
    };
    this.#doors.set(port, door);
    if (this.#client) void this.#open(this.#client, port, door);
  }

  #remove(port: number): void {
    const door = this.#doors.get(port);
    this.#doors.delete(port);
    door?.given.abort();
    void door?.opened?.[Symbol.asyncDispose]();
    for (const relayed of door?.connections ?? []) relayed.destroy();
  }

  #reach(socket: string | null): void {
    this.#holding.abort();
    this.#client?.close();
    this.#client = undefined;
    this.#holding = new AbortController();
    this.#socket = socket;
    if (socket === null) this.#tell("closed", "the sandbox does not run");
    else void this.#hold(socket, this.#holding.signal);
  }

  /** Never rejects. */
  async #hold(socket: string, given: AbortSignal): Promise<void> {
    this.#tell("opening", null);
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const since = Date.now();
      const reason = await this.#connectOnce(socket, given);
      if (given.aborted) return;
      this.#tell("closed", reason);
      this.#log.warn("the sandbox cannot be reached", { reason });
      if (reason === ENDED) return;
      if (Date.now() - since > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
      await sleep(pause, undefined, { signal: given }).catch(() => undefined);
    }
  }

  /** Why it is over, once it is. */
  async #connectOnce(socket: string, given: AbortSignal): Promise<string> {
    try {
      given.throwIfAborted();
      const client = await connectGuest(socket, given);
      if (given.aborted) client.close();
      given.throwIfAborted();
      this.#client = client;
      for (const [port, door] of this.#doors) void this.#open(client, port, door);
      const error = await client.closed;
      if (this.#client === client) this.#client = undefined;
      return shorten(error ? messageOf(error) : "the connection was closed");
    } catch (error) {
      return GONE.has(errnoOf(error) ?? "") ? ENDED : shorten(messageOf(error));
    }
  }

  /** Opens one on a connection, and tries again while the port is somebody else's. Never rejects. */
  async #open(client: GuestClient, port: number, door: OpenDoor): Promise<void> {
    const isWanted = () => this.#client === client && this.#doors.get(port) === door;
    for (let pause = FIRST_PAUSE_MS; isWanted();) {
      try {
        door.opened = await client.listen(port, (stream) => this.#letIn(door, stream));
        if (isWanted()) this.#change(door, "open", null);
        else await door.opened[Symbol.asyncDispose]();
        return;
      } catch (error) {
        if (isWanted()) this.#change(door, "closed", shorten(messageOf(error)));
      }
      await sleep(pause, undefined, { signal: door.given.signal }).catch(() => undefined);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  #letIn(door: OpenDoor, stream: Duplex): void {
    // SECURITY: a sandbox cannot take all of the gate's memory and descriptors by connecting without end (G-28)
    if (this.#connections >= MAX_CONNECTIONS) {
      stream.destroy();
      return;
    }
    const relayed = door.to.kind === "egress" ? this.#egress(stream) : relayConnection(stream, door.to);
    this.#connections++;
    door.connections.add(relayed);
    void relayed.over.then(() => {
      this.#connections--;
      door.connections.delete(relayed);
    });
  }

  #tell(state: DoorReport["state"], reason: string | null): void {
    for (const door of this.#doors.values()) Object.assign(door, { state, reason });
    this.#onChange();
  }

  #change(door: OpenDoor, state: DoorReport["state"], reason: string | null): void {
    Object.assign(door, { state, reason });
    this.#onChange();
  }
}

const ENDED = "the sandbox has ended";
const shorten = (text: string): string => text.slice(0, MAX_REASON);
