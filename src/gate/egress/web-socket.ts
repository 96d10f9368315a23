import { afford } from "./afford.ts";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import { isModelTalk } from "../../policy/egress/model-usage.ts";
import { type Admitted, admit, denied } from "./admission.ts";
import { InsideAddress, UpstreamFault } from "./connecting.ts";
import { codingsOf, decodersFor } from "./content-decoding.ts";
import { inject } from "./credentials.ts";
import { Denied, denialAnswer } from "./denial.ts";
import type { EgressContext } from "./egress-context.ts";
import { isLookedAt, readable } from "./exchange.ts";
import { type HeaderList, endToEnd, filterHeaders, headerPairs, headerValue, headerValues } from "./header-list.ts";
import { carryAnswer } from "./incoming-body.ts";
import { HeadAtFirstByte, InjectionFound, injectionWatch } from "./incoming-watch.ts";
import { IncomingFrames } from "./incoming-frames.ts";
import { OutgoingFrames } from "./outgoing-frames.ts";
import { type Place, hasBody, readRequest } from "./request-facts.ts";
import type { UpstreamAnswer } from "./upstream-call.ts";
import { upstreamFailed } from "./upstream-failed.ts";
import { answerReader, talkOf } from "./talk-meter.ts";
import { frame } from "./web-socket-frames.ts";

const TEXT = 1;
const CLOSE = 8;

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
    // SECURITY: without them a server takes it for another request than the gate does, and what follows for a body or a request (G-195)
    if (!isHandshake(request.rawHeaders))
      throw denied(admitted.record, "EGRESS_DENIED", "The gate takes no WebSocket without its key and version");
    // SECURITY: its body would be frames for one side and a body for the other (G-37)
    if (hasBody(request.rawHeaders))
      throw denied(admitted.record, "EGRESS_DENIED", "The gate takes no body with a request for a WebSocket");
    // What comes over it comes for as long as it likes: nobody could look at all of it before it goes.
    if (admitted.held.length > 0)
      throw denied(admitted.record, "DLP_BLOCKED", "The request has something in it that must not leave");
    await open(context, admitted, socket, head);
  } catch (error) {
    answerDenied(context, admitted, socket, error);
  }
}

/** As RFC 6455 has it: one key of sixteen bytes, and the one version that there is. */
function isHandshake(headers: HeaderList): boolean {
  const keys = headerValues(headers, "sec-websocket-key");
  const versions = headerValues(headers, "sec-websocket-version");
  return keys.length === 1 && /^[A-Za-z0-9+/]{21}[AQgw]==$/.test(keys[0] ?? "") && versions.join() === "13";
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
  if (error instanceof UpstreamFault) return upstreamFailed(admitted.record, error);
  return undefined;
}

async function open(context: EgressContext, admitted: Admitted, socket: Duplex, head: Buffer): Promise<void> {
  const { request, inForce, policy, record } = admitted;
  await afford(context, record, socket);
  const { route, echo } = inForce;
  // Without extensions every frame can be looked at as it is; servers have to do without them.
  const plain = filterHeaders(admitted.headers, (name) => name !== "sec-websocket-extensions");
  const headers = isLookedAt(inForce) ? readable(plain) : plain;
  const target = inject(headers, admitted.target, route.credentials);
  record.credentials = inForce.credentials;
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
  relay(context, admitted, socket, upstream, head, first ?? Buffer.alloc(0));
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
  const sink = new HeadAtFirstByte(socket, () =>
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
    injectionDenied(record, error);
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
  context: EgressContext,
  admitted: Admitted,
  client: Duplex,
  upstream: Duplex,
  fromClient: Buffer,
  fromUpstream: Buffer,
): void {
  const { record, inForce, request } = admitted;
  const { halfClosedMs } = context.patience;
  const talk = isModelTalk(request.target.path) ? talkOf(context, record) : undefined;
  const answers = talk && answerReader(talk);
  const outgoing = new OutgoingFrames(admitted, upstream, {
    talk,
    afford: (): Promise<void> | undefined => (context.budget.isUsedUp ? afford(context, record, client) : undefined),
    onReady: () => goOn(),
    onEnd: (code, told) => end(code, told),
  });
  const end = (code: number, told: Denied | undefined): void => {
    const body = Buffer.from([code >> 8, code & 255]);
    upstream.end(frame(CLOSE, body, { isMasked: true }));
    client.end(Buffer.concat([...(told ? [frame(TEXT, errorMessage(told))] : []), frame(CLOSE, body)]));
  };
  const incoming = isLookedAt(inForce) ? readIncoming(admitted, client, end) : undefined;
  let closing: NodeJS.Timeout | undefined;
  const carry = (from: Duplex, to: Duplex, take: (chunk: Buffer) => boolean, isHeld = () => false): (() => void) => {
    const resume = () => {
      if (!isHeld() && !to.writableNeedDrain) from.resume();
    };
    from.on("data", (chunk: Buffer) => {
      if (!take(chunk)) from.pause();
    });
    to.on("drain", resume);
    from.once("end", () => {
      to.end();
      // SECURITY: one side that has ended and another that never does hold nothing for ever (G-51)
      closing ??= setTimeout(() => to.destroy(), halfClosedMs);
    });
    from.once("close", () => to.destroy());
    return resume;
  };
  const toUpstream = (chunk: Buffer): boolean => {
    record.bytesSent += chunk.length;
    return outgoing.take(chunk);
  };
  const toClient = (chunk: Buffer): boolean => {
    record.bytesReceived += chunk.length;
    answers?.(chunk);
    return incoming ? incoming.take(chunk) : client.write(chunk);
  };
  if (fromClient.length > 0 && !toUpstream(fromClient)) client.pause();
  if (fromUpstream.length > 0 && !toClient(fromUpstream)) upstream.pause();
  const goOn = carry(client, upstream, toUpstream, () => outgoing.isHeld);
  carry(upstream, client, toClient);
  upstream.once("close", () => {
    clearTimeout(closing);
    talk?.close();
    record.passed(101);
  });
}

/** What the upstream says, where something is looked for in it. */
function readIncoming(
  { record, inForce }: Admitted,
  client: Duplex,
  end: (code: number, told: Denied | undefined) => void,
): IncomingFrames {
  return new IncomingFrames({
    echo: inForce.echo,
    watch: injectionWatch(inForce, record),
    write: (bytes) => client.write(bytes),
    onEnd: (code, injection) => end(code, injection && injectionDenied(record, injection)),
  });
}

const injectionDenied = (record: Admitted["record"], found: InjectionFound): Denied =>
  denied(record, "DLP_BLOCKED", `The answer has words in it that are meant for a model (${found.message})`);

/** What the sandbox is told in a message, as answers over HTTP tell it and OpenAI's servers do. */
function errorMessage({ denial, provider }: Denied): Buffer {
  const { status, body } = denialAnswer(denial, provider);
  return Buffer.from(JSON.stringify({ type: "error", status, ...(JSON.parse(body.toString()) as object) }));
}
