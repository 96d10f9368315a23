import { failure } from "../model/error-codes.ts";
import { startFrame } from "./codec.ts";
import { DOOR_KIND, HEADER_BYTES, HOST, MAGIC, PROTOCOL_VERSION, type OutputChannel } from "./frame-types.ts";
import { protocolError, shownText } from "./protocol-error.ts";
import { Reader } from "./reader.ts";

const MAX_TEXT = 4096;
const MAX_LIST_TAG = 4096;
/** Bytes of a PROCESS_LIST item with an empty tag. */
const PROCESS_ITEM_BYTES = 51;
/** Address and port. */
const DATAGRAM_HEAD = 6;

export interface Hello {
  readonly version: number;
  /** Whether the roots `upper` and `baseline` are there. */
  readonly hasLayers: boolean;
  readonly canChangeUser: boolean;
  /** Whether it knows doors on all loopback addresses, and for datagrams. */
  readonly hasNameDoors: boolean;
  /** Whether a connection through a door can have one to the guest program of its own. */
  readonly hasConduits: boolean;
  /** Of the guest program, as it sees itself. */
  readonly pid: number;
  /** Random at the guest program's start: another one is another sandbox. */
  readonly bootId: string;
}

export interface GuestExit {
  readonly kind: "exited" | "signalled" | "failed";
  /** Exit code, signal number or errno. */
  readonly code: number;
  readonly timedOut: boolean;
  readonly durationUs: number;
  readonly message: string;
}

export interface ProcessInfo {
  readonly process: number;
  readonly pid: number;
  /** Undefined while it runs. */
  readonly exit: Pick<GuestExit, "kind" | "code" | "timedOut"> | undefined;
  /** Offsets of what the rings still hold. */
  readonly stdout: { readonly start: number; readonly end: number };
  readonly stderr: { readonly start: number; readonly end: number };
  readonly tag: string;
}

export interface GuestFault {
  readonly errno: number;
  readonly message: string;
}

const EXIT_KINDS = ["exited", "signalled", "failed"] as const;

function exitKind(value: number): GuestExit["kind"] {
  const kind = EXIT_KINDS[value];
  if (kind === undefined) throw protocolError(`an exit of kind ${value}`);
  return kind;
}

/** Also for another version, whose payload is known only up to the version. */
export function readHello(payload: Buffer): Hello {
  const reader = new Reader(payload, "HELLO");
  if (reader.u32() !== MAGIC) throw protocolError("HELLO has a wrong magic number");
  const version = reader.u16();
  if (version !== PROTOCOL_VERSION) {
    const message = `The guest program speaks version ${version} of the protocol, not ${PROTOCOL_VERSION}`;
    throw failure("GUEST_VERSION", message);
  }
  const flags = reader.u16();
  const pid = reader.u32();
  const bootId = reader.bytes(16).toString("hex");
  reader.end();
  const has = (flag: number) => (flags & flag) !== 0;
  const [hasLayers, canChangeUser, hasNameDoors, hasConduits] = [has(1), has(2), has(4), has(8)];
  return { version, hasLayers, canChangeUser, hasNameDoors, hasConduits, pid, bootId };
}

export function readStarted(payload: Buffer): { process: number; pid: number } {
  const reader = new Reader(payload, "STARTED");
  const started = { process: reader.u32(), pid: reader.u32() };
  reader.end();
  return started;
}

function outputChannel(value: number): OutputChannel {
  if (value !== 1 && value !== 2) throw protocolError(`output on channel ${value}`);
  return value;
}

export function readData(payload: Buffer): { channel: OutputChannel; offset: number; data: Buffer } {
  const reader = new Reader(payload, "DATA");
  return { channel: outputChannel(reader.u8()), offset: reader.u64(), data: reader.rest() };
}

export function readEnd(payload: Buffer): { channel: OutputChannel; total: number } {
  const reader = new Reader(payload, "END");
  const end = { channel: outputChannel(reader.u8()), total: reader.u64() };
  reader.end();
  return end;
}

/** How many more bytes the host may send on channel 0. */
export function readCredit(payload: Buffer): number {
  const reader = new Reader(payload, "CREDIT");
  const channel = reader.u8();
  if (channel !== 0) throw protocolError(`credit for channel ${channel}`);
  const bytes = reader.u32();
  reader.end();
  return bytes;
}

export function readExit(payload: Buffer): GuestExit {
  const reader = new Reader(payload, "EXIT");
  const kind = exitKind(reader.u8());
  const flags = reader.u8();
  const code = reader.i32();
  const durationUs = reader.u64();
  const message = shownText(reader.str(MAX_TEXT));
  reader.end();
  return { kind, code, timedOut: (flags & 1) !== 0, durationUs, message };
}

export function readError(payload: Buffer): GuestFault {
  const reader = new Reader(payload, "ERROR");
  const fault = { errno: reader.u32(), message: shownText(reader.str(MAX_TEXT)) };
  reader.end();
  return fault;
}

export function readProcessList(payload: Buffer): ProcessInfo[] {
  const reader = new Reader(payload, "PROCESS_LIST");
  const count = reader.count(PROCESS_ITEM_BYTES);
  const processes: ProcessInfo[] = [];
  for (let index = 0; index < count; index++) processes.push(readProcess(reader));
  reader.end();
  return processes;
}

function readProcess(reader: Reader): ProcessInfo {
  const process = reader.u32();
  const pid = reader.u32();
  const state = reader.u8();
  if (state > 1) throw protocolError(`a process in state ${state}`);
  const flags = reader.u8();
  const kind = exitKind(reader.u8());
  const code = reader.i32();
  const stdout = readRange(reader);
  const stderr = readRange(reader);
  const tag = reader.str(MAX_LIST_TAG).toString("utf8");
  const exit = state === 1 ? { kind, code, timedOut: (flags & 1) !== 0 } : undefined;
  return { process, pid, exit, stdout, stderr, tag };
}

function readRange(reader: Reader): { start: number; end: number } {
  const range = { start: reader.u64(), end: reader.u64() };
  if (range.start > range.end) throw protocolError("a ring that ends before it starts");
  return range;
}

export function readPong(payload: Buffer): number {
  const reader = new Reader(payload, "PONG");
  const value = reader.u64();
  reader.end();
  return value;
}

/** The address of the sandbox that was connected to is told by a door on all of them. */
export function readIncoming(payload: Buffer, hasAddress: boolean): { stream: number; address: string } {
  const reader = new Reader(payload, "INCOMING");
  const stream = reader.u32();
  const address = hasAddress ? dotted(reader.u32()) : "127.0.0.1";
  reader.end();
  return { stream, address };
}

const dotted = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");

/** `from` goes back with an answer, as it is. */
export function readDatagram(payload: Buffer): { from: Buffer; data: Buffer } {
  const reader = new Reader(payload, "DATAGRAM");
  return { from: Buffer.from(reader.bytes(DATAGRAM_HEAD)), data: reader.rest() };
}

export function datagramFrame(stream: number, to: Buffer, data: Buffer): Buffer {
  const frame = startFrame(HOST.DATAGRAM, stream, to.length + data.length);
  frame.set(to, HEADER_BYTES);
  frame.set(data, HEADER_BYTES + to.length);
  return frame;
}

export function readEmpty(payload: Buffer, what: string): void {
  new Reader(payload, what).end();
}

export function helloFrame(): Buffer {
  const frame = startFrame(HOST.HELLO, 0, 8);
  frame.writeUInt32LE(MAGIC, HEADER_BYTES);
  frame.writeUInt16LE(PROTOCOL_VERSION, HEADER_BYTES + 4);
  frame.writeUInt16LE(0, HEADER_BYTES + 6);
  return frame;
}

/** The first and only frame of a connection that carries what a door has let in. */
export function takeFrame(stream: number): Buffer {
  const frame = startFrame(HOST.TAKE, 0, 10);
  frame.writeUInt32LE(MAGIC, HEADER_BYTES);
  frame.writeUInt16LE(PROTOCOL_VERSION, HEADER_BYTES + 4);
  frame.writeUInt32LE(stream, HEADER_BYTES + 6);
  return frame;
}

export function attachFrame(
  stream: number,
  process: number,
  from: { stdout: number; stderr: number },
  credit: number,
): Buffer {
  const frame = startFrame(HOST.ATTACH, stream, 24);
  frame.writeUInt32LE(process, HEADER_BYTES);
  frame.writeBigUInt64LE(BigInt(from.stdout), HEADER_BYTES + 4);
  frame.writeBigUInt64LE(BigInt(from.stderr), HEADER_BYTES + 12);
  frame.writeUInt32LE(credit, HEADER_BYTES + 20);
  return frame;
}

export function pingFrame(value: number): Buffer {
  const frame = startFrame(HOST.PING, 0, 8);
  frame.writeBigUInt64LE(BigInt(value), HEADER_BYTES);
  return frame;
}

export function creditFrame(stream: number, channel: OutputChannel, bytes: number): Buffer {
  const frame = startFrame(HOST.CREDIT, stream, 5);
  frame[HEADER_BYTES] = channel;
  frame.writeUInt32LE(bytes, HEADER_BYTES + 1);
  return frame;
}

export function bytesFrame(type: number, stream: number, ...bytes: number[]): Buffer {
  const frame = startFrame(type, stream, bytes.length);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

export function u32Frame(type: number, stream: number, value: number): Buffer {
  const frame = startFrame(type, stream, 4);
  frame.writeUInt32LE(value, HEADER_BYTES);
  return frame;
}

export function signalTreeFrame(stream: number, process: number, signal: number): Buffer {
  const frame = startFrame(HOST.SIGNAL_TREE, stream, 5);
  frame.writeUInt32LE(process, HEADER_BYTES);
  frame[HEADER_BYTES + 4] = signal;
  return frame;
}

export function resizeFrame(stream: number, cols: number, rows: number): Buffer {
  const frame = startFrame(HOST.RESIZE, stream, 4);
  frame.writeUInt16LE(cols, HEADER_BYTES);
  frame.writeUInt16LE(rows, HEADER_BYTES + 2);
  return frame;
}

export function connectFrame(stream: number, port: number, credit: number): Buffer {
  const frame = startFrame(HOST.CONNECT, stream, 6);
  frame.writeUInt16LE(port, HEADER_BYTES);
  frame.writeUInt32LE(credit, HEADER_BYTES + 2);
  return frame;
}

/** A door on a port of 127.0.0.1 is asked for as every guest program knows it. */
export function listenFrame(stream: number, port: number, kind: number): Buffer {
  const frame = startFrame(HOST.LISTEN, stream, kind === DOOR_KIND.PORT ? 2 : 3);
  frame.writeUInt16LE(port, HEADER_BYTES);
  if (kind !== DOOR_KIND.PORT) frame.writeUInt8(kind, HEADER_BYTES + 2);
  return frame;
}
