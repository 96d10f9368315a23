import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { Conduit } from "./conduit.ts";
import { Deferred } from "./deferred.ts";
import { DOOR_KIND, GUEST, HOST } from "./frame-types.ts";
import type { GuestLink, LinkStream } from "./link.ts";
import { WINDOW_BYTES } from "./output-window.ts";
import {
  bytesFrame,
  connectFrame,
  creditFrame,
  datagramFrame,
  listenFrame,
  readDatagram,
  readEmpty,
  readError,
  readIncoming,
} from "./payloads.ts";
import { PortRelay } from "./port-relay.ts";
import { protocolError } from "./protocol-error.ts";
import { uint } from "./spawn-frame.ts";

/** A sandbox may hold this many connections through one door; more are closed at once. */
const MAX_INCOMING = 512;
/** So much may wait for a guest that opens connections, which has each of them answered. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Connects to `127.0.0.1:port` in the sandbox. Rejects with PORT_FAILED when nothing listens there. */
export async function connectPort(link: GuestLink, port: number): Promise<Duplex> {
  const number = checkedPort(port);
  const opened = new Deferred<Duplex>();
  const relay = new PortRelay(link, {
    onOpen: () => opened.resolve(relay.socket),
    onFail: (error) => opened.reject(error),
    refused: (message) => failure("PORT_FAILED", `Cannot connect to port ${number} in the sandbox: ${message}`),
  });
  relay.stream = link.open(relay);
  link.send(connectFrame(relay.stream, number, WINDOW_BYTES));
  return opened.promise;
}

/** What comes through a door. */
export interface DoorListener {
  readonly kind: (typeof DOOR_KIND)[keyof typeof DOOR_KIND];
  /** `address` is the one of the sandbox that was connected to. */
  onConnection?(stream: Duplex, address: string): void;
  /**
   * Another connection to the guest program, for one that came through the door: its bytes need no frames then, and the kernel counts what is on its way. One that
   * cannot be had comes in frames.
   */
  conduit?(): Promise<Socket>;
  /** Datagrams may be lost on either way. */
  onDatagram?(data: Buffer, answer: (data: Buffer) => void): void;
}

/** Opens a door, until disposed of. */
export async function listenPort(link: GuestLink, port: number, listener: DoorListener): Promise<AsyncDisposable> {
  const number = checkedPort(port);
  const door = new Door(link, number, listener);
  door.stream = link.open(door);
  link.send(listenFrame(door.stream, number, listener.kind));
  await door.listening.promise;
  return {
    [Symbol.asyncDispose]: () => {
      door.close();
      return Promise.resolve();
    },
  };
}

function checkedPort(port: number): number {
  if (port === 0) throw failure("INVALID_ARGUMENT", "Port 0 is no port to connect to");
  return uint(port, "port", 65_535);
}

class Door implements LinkStream {
  readonly listening = new Deferred<undefined>();
  stream = 0;
  readonly #link: GuestLink;
  readonly #port: number;
  readonly #listener: DoorListener;
  #isListening = false;
  #over = false;
  #open = 0;

  constructor(link: GuestLink, port: number, listener: DoorListener) {
    this.#link = link;
    this.#port = port;
    this.#listener = listener;
  }

  receive(type: number, payload: Buffer): void {
    if (type === GUEST.OK && !this.#isListening) {
      readEmpty(payload, "OK");
      this.#isListening = true;
      this.listening.resolve(undefined);
    } else if (type === GUEST.INCOMING && this.#isListening && this.#listener.kind !== DOOR_KIND.DATAGRAMS) {
      this.#accept(readIncoming(payload, this.#listener.kind === DOOR_KIND.ADDRESSES));
    } else if (type === GUEST.DATAGRAM && this.#isListening && this.#listener.kind === DOOR_KIND.DATAGRAMS) {
      this.#take(readDatagram(payload));
    } else if (type === GUEST.ERROR) {
      const { message } = readError(payload);
      this.#link.release(this.stream);
      this.fail(failure("PORT_FAILED", `Cannot open a door on port ${this.#port} of the sandbox: ${message}`));
    } else {
      throw protocolError(`a frame of type ${type} for a door`);
    }
  }

  fail(error: ClocheError): void {
    this.#over = true;
    this.listening.reject(error);
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#link.send(bytesFrame(HOST.DETACH, this.stream));
    this.#link.release(this.stream);
  }

  #take({ from, data }: { from: Buffer; data: Buffer }): void {
    this.#listener.onDatagram?.(data, (answer) => {
      // SECURITY: a sandbox that asks and takes no answer does not fill the host's memory with them (G-43)
      if (this.#over || this.#link.unsent > MAX_UNSENT_BYTES) return;
      this.#link.send(datagramFrame(this.stream, from, answer));
    });
  }

  #accept({ stream: id, address }: { stream: number; address: string }): void {
    // SECURITY: a sandbox that connects without end and takes no refusal does not fill the host's memory with refusals (G-28)
    if (this.#link.unsent > MAX_UNSENT_BYTES) throw protocolError("more connections than it takes answers to");
    // SECURITY: a sandbox must not be able to take all of the host's memory by connecting without end (G-10)
    if (this.#open >= MAX_INCOMING) {
      this.#link.accept(id, this); // so that its number counts as used
      this.#link.release(id);
      this.#link.send(bytesFrame(HOST.DETACH, id));
      return;
    }
    const relay = new PortRelay(this.#link, {});
    this.#link.accept(id, relay);
    relay.stream = id;
    relay.open();
    this.#count(relay.socket);
    if (this.#listener.conduit) {
      this.#carry(relay, address, this.#listener.conduit()).catch(() => this.#serveFrames(relay, address));
    } else {
      this.#serveFrames(relay, address);
    }
  }

  #serveFrames(relay: PortRelay, address: string): void {
    if (relay.socket.destroyed) return;
    this.#link.send(creditFrame(relay.stream, 1, WINDOW_BYTES));
    this.#hand(relay.socket, address);
  }

  /** Rejects before anything has changed. */
  async #carry(relay: PortRelay, address: string, opening: Promise<Socket>): Promise<void> {
    const socket = await opening;
    if (relay.socket.destroyed) {
      socket.destroy();
      return;
    }
    relay.leave();
    new Conduit(this.#link, relay.stream, socket).begin();
    this.#count(socket);
    this.#hand(socket, address);
  }

  #count(socket: Duplex): void {
    this.#open++;
    socket.once("close", () => this.#open--);
  }

  #hand(socket: Duplex, address: string): void {
    try {
      this.#listener.onConnection?.(socket, address);
    } catch {
      // the handler's fault is not the guest's: that connection ends, the link goes on
      socket.destroy();
    }
  }
}
