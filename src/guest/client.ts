import type { Duplex } from "node:stream";
import { type ClocheError, isClocheError } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import { Deferred } from "./deferred.ts";
import { DOOR_KIND, GUEST, HOST } from "./frame-types.ts";
import { GuestLink, type LinkStream } from "./link.ts";
import {
  attachFrame,
  bytesFrame,
  helloFrame,
  pingFrame,
  readHello,
  readPong,
  signalTreeFrame,
  u32Frame,
  type GuestExit,
  type Hello,
  type ProcessInfo,
} from "./payloads.ts";
import { connectPort, listenPort, type DoorListener } from "./port.ts";
import { GuestProcess } from "./process.ts";
import { protocolError } from "./protocol-error.ts";
import { GuestRequest } from "./request.ts";
import { Slots } from "../base/slots.ts";
import { spawnFrame, uint, type SpawnSpec } from "./spawn-frame.ts";
import { GuestWatch } from "./watch.ts";

export type { GuestExit, Hello, ProcessInfo } from "./payloads.ts";
export type { SpawnSpec } from "./spawn-frame.ts";

const HELLO_TIMEOUT_MS = 10_000;
const MAX_PINGS = 1024;
/** Each is a process in the sandbox, whose number is limited, and no more than a few make any of it quicker. */
const BRIEF_AT_ONCE = 32;

export interface ConnectOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the guest's HELLO. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A connection to the guest program of one sandbox. Owns the stream. When the guest breaks the protocol or goes, everything that
 * waits rejects with the same error, and `closed` tells it.
 */
export class GuestClient implements AsyncDisposable {
  readonly hello: Hello;
  /** Never rejects; undefined when the end was asked for. */
  readonly closed: Promise<ClocheError | undefined>;
  /** For file work that ends by itself: it waits for no caller and for no other file work. */
  readonly brief = new Slots(BRIEF_AT_ONCE);
  readonly #link: GuestLink;
  readonly #control: ControlStream;

  /** Says HELLO and waits for the guest's. On failure the stream is destroyed. */
  static async connect(stream: Duplex, options: ConnectOptions = {}): Promise<GuestClient> {
    const { signal, timeoutMs = HELLO_TIMEOUT_MS } = options;
    const control = new ControlStream();
    const link = new GuestLink(stream, control);
    const stop = (error: ClocheError) => link.end(error, error);
    const timer = setTimeout(() => {
      stop(failure("SANDBOX_LOST", `The guest program did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
    const stopListening = onAbort(signal, () => stop(failure("CANCELLED", "Connecting to the sandbox was cancelled")));
    try {
      link.send(helloFrame());
      return new GuestClient(link, control, await control.hello.promise);
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  }

  private constructor(link: GuestLink, control: ControlStream, hello: Hello) {
    this.#link = link;
    this.#control = control;
    this.hello = hello;
    this.closed = link.closed;
  }

  /** Throws INVALID_ARGUMENT for what cannot be sent, and the reason when the connection is over; all else comes later. */
  spawn(spec: SpawnSpec): GuestProcess {
    return new GuestProcess(this.#link, {
      frame: (stream, credit) => spawnFrame(stream, spec, credit),
      from: { stdout: 0, stderr: 0 },
      refused: (errno, message) => {
        return failure("INTERNAL", `Cannot start a process in the sandbox: ${message}`, { details: { errno } });
      },
    });
  }

  /** Joins a process from these output offsets on; rejects with COMMAND_NOT_FOUND when the guest does not know it. */
  attach(process: number, from: { stdout: number; stderr: number }): GuestProcess {
    const number = uint(process, "process number", 0xffff_ffff);
    uint(from.stdout, "output offset", Number.MAX_SAFE_INTEGER);
    uint(from.stderr, "output offset", Number.MAX_SAFE_INTEGER);
    return new GuestProcess(this.#link, {
      frame: (stream, credit) => attachFrame(stream, number, from, credit),
      from,
      refused: (errno, message) => {
        const text = `Cannot attach to process ${number} of the sandbox: ${message}`;
        return failure("COMMAND_NOT_FOUND", text, { details: { errno } });
      },
    });
  }

  /** The exit of a process; another connection may read its output. Rejects with COMMAND_NOT_FOUND when the guest does not know it, with CANCELLED by the signal. */
  async watch(process: number, signal?: AbortSignal): Promise<GuestExit> {
    const watch = new GuestWatch(this.#link, uint(process, "process number", 0xffff_ffff));
    return watch.until(signal);
  }

  async processes(): Promise<ProcessInfo[]> {
    const request = new GuestRequest(this.#link, "list the processes", { wantsList: true });
    this.#link.send(bytesFrame(HOST.PROCESSES, request.stream));
    return request.done.promise;
  }

  /** Ends the process if it runs and drops its output; file work is told to, and cleans up first. Rejects with COMMAND_NOT_FOUND when the guest does not know it. */
  async forget(process: number): Promise<void> {
    const number = uint(process, "process number", 0xffff_ffff);
    const request = new GuestRequest(this.#link, `forget process ${number}`, { wantsList: false });
    this.#link.send(u32Frame(HOST.FORGET, request.stream, number));
    await request.done.promise;
  }

  /** The same of one that may go by itself meanwhile, as a helper of file work does: then there is nothing to end. */
  async forgetIfThere(process: number): Promise<void> {
    try {
      await this.forget(process);
    } catch (error) {
      if (!isClocheError(error) || error.code !== "COMMAND_NOT_FOUND") throw error;
    }
  }

  /**
   * To everything that descends from a process, also after it has ended itself; its output stays. With SIGKILL, resolves when nothing is left, or
   * the guest gave up on it. Rejects with COMMAND_NOT_FOUND when the guest does not know the process.
   */
  async signalTree(process: number, signo: number): Promise<void> {
    const number = uint(process, "process number", 0xffff_ffff);
    const signal = uint(signo, "signal number", 255);
    const request = new GuestRequest(this.#link, `signal what process ${number} left`, { wantsList: false });
    this.#link.send(signalTreeFrame(request.stream, number, signal));
    await request.done.promise;
  }

  async ping(): Promise<void> {
    if (this.#link.over) throw this.#link.over;
    const { value, answered } = this.#control.expectPong();
    this.#link.send(pingFrame(value));
    await answered;
  }

  /** Ends every process of the sandbox and the guest program; resolves when the connection is gone. */
  async shutdown(): Promise<void> {
    this.#link.expectEnd();
    this.#link.send(bytesFrame(HOST.SHUTDOWN, 0));
    await this.closed;
  }

  /** A connection to `127.0.0.1:port` in the sandbox. */
  connectPort(port: number): Promise<Duplex> {
    return connectPort(this.#link, port);
  }

  /** Connections to `127.0.0.1:port` in the sandbox come to `onConnection`, until disposed of. */
  listen(
    port: number,
    onConnection: NonNullable<DoorListener["onConnection"]>,
    conduit?: DoorListener["conduit"],
  ): Promise<AsyncDisposable> {
    return listenPort(this.#link, port, { kind: DOOR_KIND.PORT, onConnection, ...this.#conduits(conduit) });
  }

  /** Connections to that port of any loopback address in the sandbox come to `onConnection`. */
  listenOnAddresses(
    port: number,
    onConnection: NonNullable<DoorListener["onConnection"]>,
    conduit?: DoorListener["conduit"],
  ): Promise<AsyncDisposable> {
    return this.#listenNewly(port, { kind: DOOR_KIND.ADDRESSES, onConnection, ...this.#conduits(conduit) });
  }

  /** Datagrams to `127.0.0.1:port` in the sandbox come to `onDatagram`. */
  listenForDatagrams(port: number, onDatagram: NonNullable<DoorListener["onDatagram"]>): Promise<AsyncDisposable> {
    return this.#listenNewly(port, { kind: DOOR_KIND.DATAGRAMS, onDatagram });
  }

  #conduits(conduit: DoorListener["conduit"]): Pick<DoorListener, "conduit"> {
    return conduit && this.hello.hasConduits ? { conduit } : {};
  }

  /** A guest program that was started by an older version takes such a door for a breach of the protocol. */
  async #listenNewly(port: number, listener: DoorListener): Promise<AsyncDisposable> {
    if (this.hello.hasNameDoors) return await listenPort(this.#link, port, listener);
    throw failure("PORT_FAILED", "The sandbox was started by an older version");
  }

  /** Processes go on. What waits rejects with CANCELLED. Idempotent. */
  close(): void {
    this.#link.close(failure("CANCELLED", "The connection to the sandbox was closed"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.closed;
  }
}

/** Stream 0: HELLO first and once, then PONGs in the order of the PINGs. */
class ControlStream implements LinkStream {
  readonly hello = new Deferred<Hello>();
  #greeted = false;
  readonly #pings: { value: number; deferred: Deferred<undefined> }[] = [];
  #nextPing = 1;

  expectPong(): { value: number; answered: Promise<undefined> } {
    if (this.#pings.length >= MAX_PINGS) throw failure("SANDBOX_LOST", "The guest program does not answer");
    const ping = { value: this.#nextPing++, deferred: new Deferred<undefined>() };
    this.#pings.push(ping);
    return { value: ping.value, answered: ping.deferred.promise };
  }

  receive(type: number, payload: Buffer): void {
    if (type === GUEST.HELLO && !this.#greeted) {
      const hello = readHello(payload);
      this.#greeted = true;
      this.hello.resolve(hello);
    } else if (type === GUEST.PONG && this.#greeted) {
      const [ping] = this.#pings;
      if (ping?.value !== readPong(payload)) throw protocolError("an answer to a PING that was not sent");
      this.#pings.shift();
      ping.deferred.resolve(undefined);
    } else {
      throw protocolError(`a frame of type ${type} for the connection`);
    }
  }

  fail(error: ClocheError): void {
    this.hello.reject(error);
    for (const { deferred } of this.#pings) deferred.reject(error);
    this.#pings.length = 0;
  }
}
