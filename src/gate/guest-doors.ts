import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Slots } from "../base/slots.ts";
import { GuestClient } from "../guest/client.ts";
import type { Door } from "../model/door.ts";
import type { DoorReport } from "../model/gate-control.ts";
import { type Borrowing, GUEST_PLACE, type Reach } from "./host-connections.ts";
import { LentDoors } from "./lent-doors.ts";
import type { NameDoor } from "./name-doors.ts";
import { type Relayed, relayConnection } from "./relay-connection.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Of all doors together. */
const MAX_CONNECTIONS = 256;
/** The keeper waits for nobody: answers that the gate has not read yet must fit into its channel. */
const ASKED_AT_ONCE = 16;
/** A sandbox may choose the words of its errors. */
const MAX_REASON = 300;
/** Nobody listens on the guest's socket: its sandbox has ended, and the daemon tells where the next one is. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED"]);

/** What the gate does with connections that lead to no place of this host. */
export interface EgressSide {
  accept(stream: Duplex): Relayed;
  acceptAt(stream: Duplex, address: string, port: number): Relayed;
  resolve(stream: Duplex): Relayed;
  readonly names: { answer(query: Buffer): Buffer | undefined };
}

/** What it does with connections to a git door. */
export interface GitSide {
  accept(stream: Duplex): Relayed;
}

/** What it does with connections to a supervise door. */
export interface SuperviseSide {
  accept(stream: Duplex, canChangeEnvironment: boolean): Relayed;
}

export interface DoorSides {
  readonly egress: EgressSide;
  readonly git: GitSide;
  readonly supervise: SuperviseSide;
}

type ServedDoor = Door | NameDoor;

interface OpenDoor {
  readonly port: number;
  to: ServedDoor["to"];
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
  readonly #reach: Reach;
  readonly #lent: LentDoors;
  readonly #sides: DoorSides;
  /** By what they listen on. */
  readonly #doors = new Map<string, OpenDoor>();
  #socket: string | null = null;
  #client: GuestClient | undefined;
  #holding = new AbortController();
  #connections = 0;
  /** Of those that are about to be. */
  #reaching = 0;
  readonly #asked = new Slots(ASKED_AT_ONCE);

  constructor(log: Log, places: Borrowing & { readonly reach: Reach }, sides: DoorSides, onChange: () => void) {
    this.#log = log;
    this.#reach = places.reach;
    this.#lent = new LentDoors(places, (port, socket) => this.#letInLent(port, socket));
    this.#sides = sides;
    this.#onChange = onChange;
  }

  get reports(): DoorReport[] {
    return this.#reports(({ to }) => !isForNames(to));
  }

  /** Of those for tools that know no proxy. */
  get nameReports(): DoorReport[] {
    return this.#reports(({ to }) => isForNames(to));
  }

  #reports(isMeant: (door: OpenDoor) => boolean): DoorReport[] {
    return [...this.#doors.values()].filter(isMeant).map(({ port, state, reason }) => ({ port, state, reason }));
  }

  /** What is wanted from now on. Doors that stay keep their connections, unless the sandbox is another one. */
  set(socket: string | null, wanted: readonly ServedDoor[]): void {
    const places = new Map(wanted.map((door) => [placeOf(door), door]));
    for (const place of this.#doors.keys()) if (!places.has(place)) this.#remove(place);
    for (const [place, door] of places) {
      const known = this.#doors.get(place);
      if (known) known.to = door.to;
      else this.#add(place, door);
    }
    // One that could not be reached any more may be there again under the same name.
    if (socket !== this.#socket || this.#client === undefined) this.#moveTo(socket);
    this.#onChange();
  }

  #add(place: string, { port, to }: ServedDoor): void {
    const door: OpenDoor = {
      port,
      to,
      state: "opening",
      reason: null,
      given: new AbortController(),
      opened: undefined,
      connections: new Set(),
    };
    this.#doors.set(place, door);
    if (this.#client) void this.#open(this.#client, place, door);
  }

  #remove(place: string): void {
    const door = this.#doors.get(place);
    this.#doors.delete(place);
    door?.given.abort();
    void door?.opened?.[Symbol.asyncDispose]();
    for (const relayed of door?.connections ?? []) relayed.destroy();
  }

  #moveTo(socket: string | null): void {
    this.#holding.abort();
    this.#client?.close();
    this.#forget(this.#client);
    this.#holding = new AbortController();
    this.#socket = socket;
    if (socket === null) this.#tell("closed", "the sandbox does not run");
    else void this.#hold(this.#holding.signal);
  }

  /** Never rejects. */
  async #hold(given: AbortSignal): Promise<void> {
    this.#tell("opening", null);
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const since = Date.now();
      const reason = await this.#connectOnce(given);
      if (given.aborted) return;
      this.#tell("closed", reason);
      this.#log.warn("the sandbox cannot be reached", { reason });
      if (reason === ENDED) return;
      if (Date.now() - since > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
      await sleep(pause, undefined, { signal: given }).catch(() => undefined);
    }
  }

  /** Why it is over, once it is. */
  async #connectOnce(given: AbortSignal): Promise<string> {
    try {
      given.throwIfAborted();
      const client = await GuestClient.connect(await this.#reach(GUEST_PLACE), { signal: given });
      if (given.aborted) client.close();
      given.throwIfAborted();
      this.#client = client;
      for (const [place, door] of this.#doors) void this.#open(client, place, door);
      const error = await client.closed;
      this.#forget(client);
      return shorten(error ? messageOf(error) : "the connection was closed");
    } catch (error) {
      return GONE.has(errnoOf(error) ?? "") ? ENDED : shorten(messageOf(error));
    }
  }

  /** A link that is over, if it is the one that there is. */
  #forget(client: GuestClient | undefined): void {
    if (client === undefined || this.#client !== client) return;
    this.#client = undefined;
    this.#lent.end();
  }

  /** Opens one on a connection, and tries again while the port is somebody else's. Never rejects. */
  async #open(client: GuestClient, place: string, door: OpenDoor): Promise<void> {
    const isWanted = () => this.#client === client && this.#doors.get(place) === door;
    for (let pause = FIRST_PAUSE_MS; isWanted();) {
      try {
        door.opened = await this.#listen(client, door);
        if (isWanted()) this.#opened(client, door);
        else await door.opened[Symbol.asyncDispose]();
        return;
      } catch (error) {
        if (isWanted()) this.#change(door, "closed", shorten(messageOf(error)));
      }
      await sleep(pause, undefined, { signal: door.given.signal }).catch(() => undefined);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  #opened(client: GuestClient, door: OpenDoor): void {
    this.#change(door, "open", null);
    // Where no other connection can be had, nothing can be lent on one.
    if (client.hello.hasConduits && door.to.kind !== "questions") this.#lent.borrow(door.port);
  }

  #listen(client: GuestClient, door: OpenDoor): Promise<AsyncDisposable> {
    const { port, to } = door;
    if (to.kind === "questions")
      return client.listenForDatagrams(port, (query, answer) => {
        const answered = this.#sides.egress.names.answer(query);
        if (answered) answer(answered);
      });
    if (to.kind === "hosts")
      return client.listenOnAddresses(port, (stream, address) => this.#letIn(door, stream, address), this.#conduit);
    return client.listen(port, (stream) => this.#letIn(door, stream, ""), this.#conduit);
  }

  /** A connection of its own for one that came through a door, as long as that may come in. */
  readonly #conduit = async (): Promise<Socket> => {
    if (this.#connections + this.#reaching >= MAX_CONNECTIONS) throw new Error("there are too many connections");
    this.#reaching++;
    try {
      return await this.#asked.during(() => this.#reach(GUEST_PLACE));
    } finally {
      this.#reaching--;
    }
  };

  #letInLent(port: number, socket: Socket): void {
    const door = this.#doors.get(placeAt(port));
    if (door) this.#letIn(door, socket, socket.localAddress ?? "");
    else socket.destroy();
  }

  #letIn(door: OpenDoor, stream: Duplex, address: string): void {
    // SECURITY: a sandbox cannot take all of the gate's memory and descriptors by connecting without end (G-28)
    if (this.#connections >= MAX_CONNECTIONS) {
      stream.destroy();
      return;
    }
    const relayed = this.#relay(door, stream, address);
    this.#connections++;
    door.connections.add(relayed);
    void relayed.over.then(() => {
      this.#connections--;
      door.connections.delete(relayed);
    });
  }

  #relay({ to, port }: OpenDoor, stream: Duplex, address: string): Relayed {
    switch (to.kind) {
      case "egress":
        return this.#sides.egress.accept(stream);
      case "git":
        return this.#sides.git.accept(stream);
      case "supervise":
        return this.#sides.supervise.accept(stream, to.can_change_environment);
      case "hosts":
        return this.#sides.egress.acceptAt(stream, address, port);
      case "questions":
      case "resolver":
        return this.#sides.egress.resolve(stream);
      default:
        return relayConnection(stream, to, () => this.#reach(port));
    }
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

const isForNames = ({ kind }: ServedDoor["to"]): boolean => ["hosts", "resolver", "questions"].includes(kind);
/** Two doors on one port are two where one takes datagrams. */
const placeOf = ({ port, to }: ServedDoor): string => (to.kind === "questions" ? `datagrams ${port}` : placeAt(port));
const placeAt = (port: number): string => `connections ${port}`;

const ENDED = "the sandbox has ended";
const shorten = (text: string): string => text.slice(0, MAX_REASON);
