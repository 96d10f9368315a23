import { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../base/errors.ts";
import { isReadableRange } from "../../policy/egress/byte-range.ts";
import type { BodyScan } from "../../policy/dlp/detector.ts";
import { type Finding, isViolation } from "../../policy/dlp/finding.ts";
import { type Admitted, admit, denied } from "./admission.ts";
import { ConnectionLost, InsideAddress, UpstreamFault } from "./connecting.ts";
import { codingsOf, decodersFor } from "./content-decoding.ts";
import { inject } from "./credentials.ts";
import { Denied, denialAnswer, denialForGit } from "./denial.ts";
import type { EgressContext } from "./egress-context.ts";
import { type HeaderList, endToEnd, filterHeaders, headerObject, headerValue, takesTrailers } from "./header-list.ts";
import { afford } from "./afford.ts";
import { ModelRequest } from "./model-request.ts";
import { carryAnswer } from "./incoming-body.ts";
import { HeadAtFirstByte, InjectionFound, injectionWatch, watchBoth } from "./incoming-watch.ts";
import { BrokenBody, LeakFound, OutgoingBody } from "./outgoing-body.ts";
import {
  type ClientRequest,
  type ClientResponse,
  type Place,
  hasBody,
  isUnreadable,
  readRequest,
} from "./request-facts.ts";
import type { UpstreamAnswer, UpstreamCall } from "./upstream-call.ts";
import { upstreamFailed } from "./upstream-failed.ts";
import { usageMeter } from "./usage-meter.ts";

type First = { readonly bytes: Buffer; readonly isWhole: boolean };
const NOTHING: readonly Finding[] = [];

/** Git, and libraries that speak its protocol. */
const GIT_CLIENT = /^(?:go-|J)?git\//i;

const PARTIAL_CONTENT = 206;
/** By which a part of an answer is asked for; the last is an old name of the first. */
const RANGES: ReadonlySet<string> = new Set(["range", "if-range", "request-range"]);

/** What comes before a body is sent, for a client that waits for a word first. */
type AskForBody = () => void;

/** Serves one request: decides, sends it on, and carries the answer back. Never rejects. */
export async function serveExchange(
  context: EgressContext,
  place: Place,
  sent: string,
  request: ClientRequest,
  response: ClientResponse,
  askForBody: AskForBody = () => undefined,
): Promise<void> {
  try {
    const read = readRequest(place, request, sent);
    // SECURITY: what is for a repository of the bottle is served by the git gate, whatever the routes say (G-117)
    if (request instanceof IncomingMessage && response instanceof ServerResponse && !isUnreadable(read))
      if (context.serveGit(place, read.target.sent, request, response)) {
        askForBody();
        return;
      }
    const admitted = admit(context, read, place, request.method ?? "");
    askForBody();
    await new Exchange(context, admitted, request, response).run();
  } catch (error) {
    refuse(error, request, response, context);
  }
}

function refuse(error: unknown, request: ClientRequest, response: ClientResponse, context: EgressContext): void {
  if (!(error instanceof Denied) && !(error instanceof BrokenBody))
    context.log.warn("a request failed", { reason: messageOf(error) });
  // Half an answer cannot become another one: its end tells that it is broken.
  if (!(error instanceof Denied) || response.headersSent) {
    destroy(response);
    return;
  }
  const isGit = GIT_CLIENT.test(headerValue(request.rawHeaders, "user-agent") ?? "");
  const { status, headers, body } = isGit ? denialForGit(error.denial) : denialAnswer(error.denial, error.provider);
  // What is left of the request is not read on: the connection is over with the answer.
  const isUnread = !request.complete && !(request as { readableEnded: boolean }).readableEnded;
  writeHead(
    response,
    status,
    "",
    isUnread && response instanceof ServerResponse ? [...headers, "connection", "close"] : headers,
  );
  response.end(body);
  if (isUnread) request.resume();
}

function destroy(response: ClientResponse): void {
  if (response instanceof ServerResponse) response.destroy();
  else response.stream.close(2); // INTERNAL_ERROR
}

export function writeHead(response: ClientResponse, status: number, message: string, headers: string[]): void {
  if (response instanceof ServerResponse) response.writeHead(status, message, headers);
  else response.writeHead(status, headerObject(headers));
}

/** A request that may go out, on its way. */
class Exchange {
  readonly #context: EgressContext;
  readonly #admitted: Admitted;
  readonly #request: ClientRequest;
  readonly #response: ClientResponse;
  readonly #model: ModelRequest;
  #scan: BodyScan | undefined;

  constructor(context: EgressContext, admitted: Admitted, request: ClientRequest, response: ClientResponse) {
    this.#context = context;
    this.#admitted = admitted;
    this.#request = request;
    this.#response = response;
    this.#model = new ModelRequest(context, admitted.record, admitted.request);
  }

  async run(): Promise<void> {
    const { record } = this.#admitted;
    const body = this.#hasBody() ? this.#body() : undefined;
    try {
      if (this.#context.budget.isUsedUp) await this.#afford();
      const first = body ? await body.first() : undefined;
      const findings = this.#findings(body, first);
      if (findings.length > 0) await this.#hold(findings, first);
      // Nothing comes between the look and the count.
      while (this.#context.budget.isUsedUp) await this.#afford();
      this.#model.begin();
      const answer = await this.#send(body, first);
      if (answer.status < 200 || answer.status > 299) this.#model.refused();
      await this.#answer(answer, body);
      this.#sum(body);
      record.passed(answer.status);
    } catch (error) {
      this.#sum(body);
      const isRefused = error instanceof UpstreamFault && !this.#response.destroyed && !this.#response.headersSent;
      if (isRefused) this.#model.refused();
      else this.#model.answered(null, body?.bytes ?? 0, 0, { isWhole: false, isStream: false });
      throw this.#told(error);
    }
  }

  /** SECURITY: what is used up while a body comes, or while others wait as well, is used up for this one too (G-115) */
  async #afford(): Promise<void> {
    while (this.#context.budget.isUsedUp) await afford(this.#context, this.#admitted.record, this.#response);
  }

  /** What was found in its head and in a body that is held. Throws when the body goes on, and has something in it. */
  #findings(body: OutgoingBody | undefined, first: First | undefined): readonly Finding[] {
    const { held } = this.#admitted;
    const found = body?.found(first?.isWhole === true) ?? NOTHING;
    return held.length === 0 ? found : [...held, ...found];
  }

  /** SECURITY: a request in which something was found goes out when the operator lets exactly this one pass, and not before (G-104) */
  async #hold(findings: readonly Finding[], first: First | undefined): Promise<void> {
    const { request, record, headers, target } = this.#admitted;
    const refused = (message: string, more: Parameters<typeof denied>[3] = {}) => {
      record.found(this.#scan?.findings ?? []); // it is told at once
      return denied(record, "DLP_BLOCKED", message, more);
    };
    if (first?.isWhole === false)
      throw refused("The request has something in it that must not leave, and its body is too large to be held");
    const gone = new AbortController();
    this.#response.once("close", () => gone.abort());
    const { scheme, host, port } = request.place;
    const refusal = await this.#context.held.decide(
      {
        method: request.method,
        scheme,
        host,
        port,
        target,
        headers,
        body: first?.bytes ?? Buffer.alloc(0),
        findings,
        shown: record.head,
      },
      gone.signal,
    );
    if (!refusal) return;
    const { message, hint, proposal_id } = refusal;
    throw refused(message, { hint, ...(proposal_id !== null && { proposal_id }) });
  }

  /** Before it is told. */
  #sum(body: OutgoingBody | undefined): void {
    const { record } = this.#admitted;
    if (body) record.bytesSent = body.bytes;
    record.found(this.#scan?.findings ?? []);
  }

  /** Errors of the way as what the sandbox is told. */
  #told(error: unknown): unknown {
    const { record, request } = this.#admitted;
    if (error instanceof LeakFound) {
      const names = [...new Set((this.#scan?.findings ?? []).filter(isViolation).map(({ rule }) => rule))].join(", ");
      return denied(record, "DLP_BLOCKED", `The body has something in it that must not leave (${names})`);
    }
    if (error instanceof InjectionFound)
      return denied(record, "DLP_BLOCKED", `The answer has words in it that are meant for a model (${error.message})`);
    if (error instanceof InsideAddress)
      return denied(record, "EGRESS_DENIED", `The gate does not go there: ${error.message}`);
    if (error instanceof UpstreamFault) {
      this.#context.log.warn("an upstream failed", { host: request.place.host, reason: error.message });
      return upstreamFailed(record, error);
    }
    if (error instanceof BrokenBody) return denied(record, "BAD_REQUEST", `The body cannot be read: ${error.message}`);
    return error;
  }

  #hasBody(): boolean {
    const { headers, isHttp2 } = this.#admitted.request;
    if (isHttp2) return !("stream" in this.#request && this.#request.stream.endAfterHeaders);
    return hasBody(headers);
  }

  #body(): OutgoingBody {
    const { request, inForce, policy, record, head } = this.#admitted;
    const { outbound, route } = inForce;
    const codings = outbound ? codingsOf(request.headers) : [];
    const decoders = decodersFor(codings);
    // SECURITY: what cannot be unpacked cannot be looked at (G-41)
    if (!decoders)
      throw denied(
        record,
        "DLP_BLOCKED",
        `The gate cannot look into a body that is packed as "${codings.join(", ").slice(0, 100)}"`,
      );
    const redacts = route.dlp.outbound_on_match === "redact";
    const memory = outbound && policy.memory(request.place.host, outbound);
    const mode = redacts ? "redact" : "find";
    const scan = outbound?.body({ mode, ...(memory && { memory }), ...(head && { head }) }) ?? null;
    this.#scan = scan ?? undefined;
    const length = headerValue(request.headers, "content-length");
    return new OutgoingBody(this.#request, {
      scan,
      redacts,
      holds: route.dlp.outbound_on_match === "supervise",
      decoders,
      length: length === undefined ? undefined : Number(length),
    });
  }

  /** A body that is at hand whole is sent again when a connection that was kept turns out to be closed: not when an upstream takes long, or does not want it, since it may have done it already. */
  async #send(body: OutgoingBody | undefined, first: First | undefined): Promise<UpstreamAnswer> {
    const call = await this.#call(body, first);
    try {
      if (body && first && !first.isWhole) return await this.#stream(call, body, first.bytes);
      call.end(first?.bytes);
      return await call.answer;
    } catch (error) {
      call.destroy();
      if (!(error instanceof ConnectionLost) || !call.isReused || (first && !first.isWhole)) throw error;
    }
    const again = await this.#call(body, first);
    again.end(first?.bytes);
    return await again.answer;
  }

  async #stream(call: UpstreamCall, body: OutgoingBody, first: Buffer): Promise<UpstreamAnswer> {
    if (first.length > 0 && !call.write(first)) await call.drained();
    // SECURITY: what comes after the body does not go on: it would be a place that nobody has looked at (G-41)
    const sent = body.rest(call).then(async () => {
      await this.#afford();
      call.end();
    });
    // An upstream may answer before it has all, and go on reading while it answers.
    sent.catch(() => undefined);
    return await Promise.race([call.answer, sent.then(() => call.answer)]);
  }

  async #call(body: OutgoingBody | undefined, first: First | undefined): Promise<UpstreamCall> {
    const { request, inForce, policy, record } = this.#admitted;
    const { route } = inForce;
    const { scheme, host, port } = request.place;
    const isPlain = codingsOf(request.headers).length === 0 || !inForce.outbound;
    const readsAnswer = isLookedAt(inForce);
    const asksForPart = isReadableRange(headerValue(this.#admitted.headers, "range") ?? "");
    const headers = filterHeaders(this.#admitted.headers, (name) => {
      if (name === "expect") return false;
      if (name === "accept-encoding") return !readsAnswer;
      // SECURITY: nobody gets a credential back in parts that are too small to know it by (G-183)
      if (RANGES.has(name)) return inForce.echo.isEmpty || asksForPart;
      if (name === "content-length") return isPlain && !first?.isWhole;
      // It goes on unpacked, as it was looked at.
      return !(name === "content-encoding" && !isPlain);
    });
    if (first?.isWhole === true) headers.push("content-length", String(first.bytes.length));
    // SECURITY: what comes back can be looked at for credentials (G-40)
    if (readsAnswer) headers.push("accept-encoding", "identity");
    // Servers of gRPC answer nobody who does not say so.
    if (takesTrailers(request.headers)) headers.push("te", "trailers");
    const target = inject(headers, this.#admitted.target, route.credentials);
    record.credentials = inForce.credentials;
    if (headerValue(headers, "host") === undefined)
      headers.unshift("host", request.isHttp2 ? (headerValue(request.headers, ":authority") ?? host) : host);
    const origin = this.#context.upstreams.origin({ scheme, host, port, route }, policy.order.way_out);
    const call = await origin.call(
      { method: request.method, target, headers, hasBody: body !== undefined },
      request.isHttp2,
    );
    // A client that goes away takes its request along.
    this.#response.on("close", () => {
      if (!this.#response.writableEnded) call.destroy();
    });
    if (this.#response.destroyed) call.destroy();
    return call;
  }

  async #answer(answer: UpstreamAnswer, sent: OutgoingBody | undefined): Promise<void> {
    const { inForce, record } = this.#admitted;
    const { echo, route } = inForce;
    if (answer.status === 401 && route.credentials.some(({ renewable }) => renewable))
      this.#context.want(route.credentials.flatMap(({ renewable, name }) => (renewable ? [name] : [])));
    const isMasked = !echo.isEmpty;
    const codings = isLookedAt(inForce) ? codingsOf(answer.headers) : [];
    const decoders = isBodiless(this.#request.method, answer.status) ? [] : decodersFor(codings);
    if (!decoders) {
      // SECURITY: it is a header like the others, and is told and logged (G-40)
      const told = echo.text(headerValue(answer.headers, "content-encoding") ?? "").slice(0, 100);
      throw new UpstreamFault(`its answer is packed as "${told}", which was not asked for`);
    }
    const kept = filterHeaders(endToEnd(answer.headers), (name) => {
      if (name === "alt-svc") return false; // there is no other way than this one
      return decoders.length === 0 || (name !== "content-encoding" && name !== "content-length");
    });
    const masked = (list: HeaderList) => (isMasked ? echo.texts(list) : [...list]);
    const headers = masked(kept);
    const message = isMasked ? echo.text(answer.statusMessage) : answer.statusMessage;
    const sink = new HeadAtFirstByte(this.#response, () => writeHead(this.#response, answer.status, message, headers));
    // Nothing of a long answer waits for its first words.
    const onSilence = inForce.blocksInjections ? null : () => flushHead(sink, this.#response);
    const mask = isMasked ? echo.stream({ isPart: answer.status === PARTIAL_CONTENT }) : null;
    const meter = usageMeter(this.#admitted.request, answer, decoders.length > 0);
    const watch = watchBoth(injectionWatch(inForce, record), meter && ((chunk) => meter.watch(chunk)));
    const { bytes, rest } = await carryAnswer(answer.body, sink, { mask, decoders, watch, onSilence });
    record.bytesReceived = bytes;
    sink.begin();
    const trailers = masked(answer.trailers());
    if (trailers.length > 0) this.#response.addTrailers(headerObject(trailers));
    this.#response.end(rest);
    const isWhole = answer.body.readableEnded;
    record.modelUsage = meter && (await meter.usage());
    const isStream = headerValue(answer.headers, "content-type")?.startsWith("text/event-stream") === true;
    this.#model.answered(record.modelUsage, sent?.bytes ?? 0, bytes, { isWhole, isStream });
  }
}

export const isLookedAt = ({ echo, inbound }: Admitted["inForce"]): boolean => !echo.isEmpty || inbound !== undefined;

/** SECURITY: what comes back can be looked at for credentials, and comes whole (G-40, G-183) */
export function readable(headers: readonly string[]): string[] {
  const kept = filterHeaders(headers, (name) => name !== "accept-encoding" && !RANGES.has(name));
  return [...kept, "accept-encoding", "identity"];
}

const isBodiless = (method: string | undefined, status: number): boolean =>
  method === "HEAD" || status === 204 || status === 304;

function flushHead(sink: { begin(): void }, response: ClientResponse): void {
  sink.begin();
  if (response instanceof ServerResponse && !response.writableEnded) response.flushHeaders();
}
