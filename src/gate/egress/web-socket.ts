import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import type { BodyScan } from "../../policy/dlp/detector.ts";
import { isViolation } from "../../policy/dlp/finding.ts";
import { type Admitted, admit, denied } from "./admission.ts";
import { InsideAddress, UpstreamFault } from "./connecting.ts";
import { codingsOf, decodersFor } from "./content-decoding.ts";
import { inject } from "./credentials.ts";
import { Denied, denialAnswer } from "./denial.ts";
import type { EgressContext } from "./egress-context.ts";
import { isLookedAt, readable } from "./exchange.ts";
import { type HeaderList, endToEnd, filterHeaders, headerPairs, headerValue } from "./header-list.ts";
import { carryAnswer } from "./incoming-body.ts";
import { InjectionFound, headAtFirstByte, injectionWatch } from "./incoming-watch.ts";
import type { Patience } from "./patience.ts";
import { type Place, readRequest } from "./request-facts.ts";
import type { UpstreamAnswer } from "./upstream-call.ts";
import { FrameReader, frame } from "./web-socket-frames.ts";

/** So much of a message is looked at before a part of it goes on. */
const PART = 64 * 1024;
const CLOSE = 8;
const POLICY_VIOLATION = 1008;
const PROTOCOL_ERROR = 1002;
const STALL_MS = 25;

/** Serves a request to become a WebSocket. Never rejects. */
export async function serveUpgrade(
  context: EgressContext,
  place: Place,
  sent: string,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  socket.on("error", () => socket.destroy());
  let admitted: Admitted | undefined;
  try {
    admitted = admit(context, readRequest(place, request, sent), place, request.method ?? "");
    if (headerValue(request.rawHeaders, "upgrade")?.toLowerCase() !== "websocket" || request.method !== "GET")
      throw denied(
        admitted.record,
        "EGRESS_DENIED",
        "The gate lets no other protocol than WebSocket take over a connection",
      );
    await open(context, admitted, socket, head);
  } catch (error) {
    answerDenied(context, admitted, socket, error);
  }
}

function answerDenied(context: EgressContext, admitted: Admitted | undefined, socket: Duplex, error: unknown): void {
  const told = toDenied(admitted, error);
  if (!told) {
    context.log.warn("a WebSocket failed", { reason: messageOf(error) });
    socket.destroy();
    return;
  }
  const { status, headers, body } = denialAnswer(told.denial, told.provider);
  socket.end(Buffer.concat([headBytes(status, "Refused", [...headers, "connection", "close"]), body]));
}

function toDenied(admitted: Admitted | undefined, error: unknown): Denied | undefined {
  if (error instanceof Denied) return error;
  if (!admitted) return undefined;
  if (error instanceof InsideAddress)
    return denied(admitted.record, "EGRESS_DENIED", `The gate does not go there: ${error.message}`);
  if (error instanceof UpstreamFault)
    return denied(admitted.record, "UPSTREAM_FAILED", `The upstream failed: ${error.message}`);
  return undefined;
}

async function open(context: EgressContext, admitted: Admitted, socket: Duplex, head: Buffer): Promise<void> {
  const { request, inForce, policy, record } = admitted;
  const { route, echo } = inForce;
  // Without extensions every frame can be looked at as it is; servers have to do without them.
  const plain = filterHeaders(admitted.headers, (name) => name !== "sec-websocket-extensions");
  const headers = isLookedAt(inForce) ? readable(plain) : plain;
  const target = inject(headers, admitted.target, route.credentials);
  record.injected = route.credentials.length > 0;
  const { scheme, host, port } = request.place;
  const origin = context.upstreams.origin({ scheme, host, port, route }, policy.order.way_out);
  const {
    answer,
    socket: upstream,
    head: first,
  } = await origin.http1.upgrade({ method: "GET", target, headers, hasBody: false });
  const shown = echo.texts(endToEnd(answer.headers));
  if (!upstream) {
    await carryRefusal(admitted, answer, shown, socket);
    return;
  }
  upstream.on("error", () => upstream.destroy());
  if (headerValue(answer.headers, "sec-websocket-extensions") !== undefined) {
    upstream.destroy();
    throw new UpstreamFault(`${host} uses an extension that nobody asked for`);
  }
  socket.write(headBytes(101, "Switching Protocols", [...shown, "connection", "Upgrade", "upgrade", "websocket"]));
  relay(admitted, context.patience, socket, upstream, head, first ?? Buffer.alloc(0));
}

/**
 * The answer of an upstream that wants no WebSocket, which is one as any other; its end is that of the connection.
 *
 * SECURITY: whoever asks for a WebSocket where there is none gets no credential back either (G-40)
 */
async function carryRefusal(
  { inForce, record }: Admitted,
  answer: UpstreamAnswer,
  shown: HeaderList,
  socket: Duplex,
): Promise<void> {
  const { echo } = inForce;
  const decoders = isLookedAt(inForce) ? decodersFor(codingsOf(answer.headers)) : [];
  if (!decoders) throw new UpstreamFault("its answer is packed in a way that was not asked for");
  const kept = filterHeaders(
    shown,
    (name) => name !== "content-length" && (decoders.length === 0 || name !== "content-encoding"),
  );
  const message = echo.text(answer.statusMessage);
  const sink = headAtFirstByte(socket, () =>
    socket.write(headBytes(answer.status, message, [...kept, "connection", "close"])),
  );
  const mask = echo.isEmpty ? null : echo.stream();
  let last: Buffer;
  try {
    const { bytes, rest } = await carryAnswer(answer.body, sink, {
      mask,
      decoders,
      watch: injectionWatch(inForce, record),
    });
    record.bytesReceived = bytes;
    last = rest;
  } catch (error) {
    if (!(error instanceof InjectionFound)) throw error;
    denied(record, "DLP_BLOCKED", `The answer has words in it that are meant for a model (${error.message})`);
    socket.destroy();
    return;
  }
  sink.begin();
  socket.end(last);
  record.passed(answer.status);
}

function headBytes(status: number, message: string, headers: readonly string[]): Buffer {
  const lines = headerPairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${message}\r\n${lines.join("")}\r\n`, "latin1");
}

/** Carries frames both ways until one side ends. */
function relay(
  admitted: Admitted,
  { halfClosedMs }: Patience,
  client: Duplex,
  upstream: Duplex,
  fromClient: Buffer,
  fromUpstream: Buffer,
): void {
  const { record, inForce } = admitted;
  const outgoing = new OutgoingFrames(admitted, upstream, (code) => {
    const body = Buffer.from([code >> 8, code & 255]);
    upstream.end(frame(CLOSE, body, { isMasked: true }));
    client.end(frame(CLOSE, body));
  });
  const mask = inForce.echo.isEmpty ? null : inForce.echo.stream();
  let stall: NodeJS.Timeout | undefined;
  let closing: NodeJS.Timeout | undefined;
  const carry = (from: Duplex, to: Duplex, take: (chunk: Buffer) => boolean): void => {
    from.on("data", (chunk: Buffer) => {
      if (take(chunk)) return;
      from.pause();
      to.once("drain", () => from.resume());
    });
    from.once("end", () => {
      to.end();
      // SECURITY: one side that has ended and another that never does hold nothing for ever (G-51)
      closing ??= setTimeout(() => to.destroy(), halfClosedMs);
    });
    from.once("close", () => to.destroy());
  };
  const release = (): void => {
    if (mask && client.writable) client.write(mask.flush());
  };
  const toUpstream = (chunk: Buffer): boolean => {
    record.bytesSent += chunk.length;
    return outgoing.take(chunk);
  };
  const toClient = (chunk: Buffer): boolean => {
    record.bytesReceived += chunk.length;
    if (!mask) return client.write(chunk);
    clearTimeout(stall);
    const safe = mask.push(chunk);
    if (safe.length < chunk.length) stall = setTimeout(release, STALL_MS);
    return safe.length === 0 || client.write(safe);
  };
  if (fromClient.length > 0) toUpstream(fromClient);
  if (fromUpstream.length > 0) toClient(fromUpstream);
  carry(client, upstream, toUpstream);
  carry(upstream, client, toClient);
  upstream.once("close", () => {
    clearTimeout(stall);
    clearTimeout(closing);
    record.passed(101);
  });
}

/** Frames on their way out: each message is looked at whole, over as many frames as it comes in. */
class OutgoingFrames {
  readonly #admitted: Admitted;
  readonly #upstream: Duplex;
  readonly #end: (code: number) => void;
  readonly #reader: FrameReader;
  #opcode = 0;
  #isFinal = true;
  #isControl = false;
  /** Of a control frame. */
  #control: Buffer[] = [];
  #message: { scan: BodyScan | null; opcode: number; isBegun: boolean; parts: Uint8Array[]; size: number } | undefined;
  #isOver = false;

  constructor(admitted: Admitted, upstream: Duplex, end: (code: number) => void) {
    this.#admitted = admitted;
    this.#upstream = upstream;
    this.#end = end;
    this.#reader = new FrameReader({
      head: (head) => this.#head(head),
      payload: (bytes, isLast) => this.#payload(bytes, isLast),
    });
  }

  /** False when it is to wait. */
  take(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#isOver = true;
      this.#end(error instanceof Leak ? POLICY_VIOLATION : PROTOCOL_ERROR);
    }
    return !this.#upstream.writableNeedDrain;
  }

  #head({
    isFinal,
    opcode,
    reserved,
    mask,
    length,
  }: {
    isFinal: boolean;
    opcode: number;
    reserved: number;
    mask: Buffer | undefined;
    length: number;
  }): void {
    this.#isControl = opcode >= CLOSE;
    const isKnown = [0, 1, 2, 8, 9, 10].includes(opcode);
    // SECURITY: a frame that may be read in another way is none (G-41)
    if (!isKnown || reserved !== 0 || !mask || (this.#isControl && (length > 125 || !isFinal)))
      throw new Error("no frame that there is");
    this.#opcode = opcode;
    if (this.#isControl) return;
    if ((opcode === 0) !== (this.#message !== undefined)) throw new Error("a message in a message");
    this.#isFinal = isFinal;
    if (opcode !== 0) this.#message = { scan: this.#newScan(), opcode, isBegun: false, parts: [], size: 0 };
  }

  #newScan(): BodyScan | null {
    const { inForce, policy, request } = this.#admitted;
    const { outbound } = inForce;
    if (!outbound) return null;
    return outbound.body({
      mode: this.#redacts ? "redact" : "find",
      place: "message",
      memory: policy.memory(request.place.host, outbound),
    });
  }

  get #redacts(): boolean {
    return this.#admitted.inForce.route.dlp.outbound_on_match === "redact";
  }

  #payload(bytes: Buffer, isLast: boolean): void {
    if (this.#isControl) this.#takeControl(bytes, isLast);
    else this.#takeMessage(bytes, isLast && this.#isFinal);
  }

  #takeControl(bytes: Buffer, isLast: boolean): void {
    this.#control.push(bytes);
    if (!isLast) return;
    const payload = Buffer.concat(this.#control.splice(0));
    const findings = this.#admitted.inForce.outbound?.bytes("message", payload) ?? [];
    this.#admitted.record.found(findings);
    if (findings.some(isViolation)) throw new Leak();
    this.#upstream.write(frame(this.#opcode, payload, { isMasked: true }));
  }

  #takeMessage(bytes: Buffer, isEnd: boolean): void {
    const message = this.#message;
    if (!message) throw new Error("no message");
    const { scan } = message;
    const before = scan?.findings.length ?? 0;
    const ready = [scan ? scan.push(bytes) : bytes, ...(isEnd && scan ? [scan.end()] : [])];
    if (scan) this.#judge(scan.findings.slice(before));
    message.parts.push(...ready);
    message.size += ready.reduce((sum, { length }) => sum + length, 0);
    if (!isEnd && message.size < PART) return;
    const payload = Buffer.concat(message.parts.splice(0));
    message.size = 0;
    this.#upstream.write(frame(message.isBegun ? 0 : message.opcode, payload, { isFinal: isEnd, isMasked: true }));
    message.isBegun = true;
    if (isEnd) this.#message = undefined;
  }

  #judge(findings: BodyScan["findings"]): void {
    this.#admitted.record.found(findings);
    if (!this.#redacts && findings.some(isViolation)) throw new Leak();
  }
}

class Leak extends Error {}
