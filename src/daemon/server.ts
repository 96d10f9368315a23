import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { failure } from "../model/error-codes.ts";
import { isOperation, isStream, operationRow, type OperationName, type StreamName } from "../model/operations.ts";
import { CallAnswer } from "./call-answer.ts";
import { CallLines } from "./call-lines.ts";
import { withFilledHint } from "./fill-hint.ts";
import type { AnyStreamHandler } from "./handlers.ts";
import { checkVersion, performCall, type ApiOptions } from "./perform-call.ts";
import { parseInput, parseJson, readBody, readFirstLine } from "./request-body.ts";
import { isDaemonStopping } from "../workspaces/caller-leaves.ts";
import { StreamAnswer } from "./stream-answer.ts";
import { toFailure } from "./to-failure.ts";

export interface ApiServer {
  readonly server: Server;
  /** Also those that carry calls in lines, which are no longer the HTTP server's. */
  closeAllConnections(): void;
}

/** `POST /v1/OPERATION`: JSON in; lines or frames out. `GET /v1/calls` with an upgrade: calls in lines. */
export function createApiServer(options: ApiOptions): ApiServer {
  const server = createServer((request, response) => {
    void serve(options, request, response);
  });
  server.on("connection", (socket) => options.connections.add(socket));
  // SECURITY: a daemon without descriptors to accept with goes on, and accepts when it has some (G-25)
  server.on("error", (error) => options.log.debug("cannot accept", { error: error.message }));
  const calls = new Set<CallLines>();
  server.on("upgrade", (request, socket, head) => {
    const lines = new CallLines(options, request, socket);
    calls.add(lines);
    socket.once("close", () => calls.delete(lines));
    lines.start(head);
  });
  // A command may run for a day with its input open; the peers are the user's own processes.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.timeout = 0;
  server.keepAliveTimeout = 0;
  const closeAllConnections = () => {
    server.closeAllConnections();
    for (const lines of calls) lines.close();
  };
  return { server, closeAllConnections };
}

/** Whether the request's body goes on as standard input after its first line. */
function takesInput(name: StreamName, input: object): boolean {
  const row = operationRow(name);
  if (row.kind !== "command") return false;
  return row.stdin === "always" || (row.stdin === "asked" && "stdin" in input && input.stdin === true);
}

async function serve(options: ApiOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (options.inFlight.stopping) {
    // Without an acknowledgement the client asks the next daemon.
    request.socket.destroy();
    return;
  }
  const name = request.url?.startsWith("/v1/") === true ? request.url.slice("/v1/".length) : "";
  const { abort, end } = options.inFlight.begin(isOperation(name) && isStream(name));
  const closed = new Promise<void>((resolve) => {
    response.once("close", () => {
      if (!response.writableFinished) abort.abort(new Error("the client went away"));
      resolve();
    });
  });
  // A broken connection shows as `close`; an unheard `error` would end the daemon.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  try {
    const asked = route(options.version, request, name);
    options.log.debug("operation", { operation: asked });
    if (isStream(asked)) await serveStream(options, asked, { request, response, signal: abort.signal });
    else await serveCall(options, asked, { request, response, signal: abort.signal });
  } catch (error) {
    // Nothing of the operation has begun. The rest of the body is read and dropped, or the client would not get to the answer.
    new CallAnswer(response).error(toFailure(error, name, abort.signal, options.log));
    request.resume();
    options.connections.complete(request.socket);
  }
  // Over when the answer has left and the handler has returned: one whose client went away may still be tidying up.
  await closed;
  end();
}

function route(version: string, request: IncomingMessage, name: string): OperationName {
  if (request.method === "POST" && isOperation(name)) {
    checkVersion(version, request, name);
    return name;
  }
  throw failure("INVALID_ARGUMENT", `There is no operation "${request.method ?? ""} ${request.url ?? ""}"`, {
    hint: "Ask with POST /v1/OPERATION",
  });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

async function serveCall(options: ApiOptions, name: OperationName, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  const { connections } = options;
  const { socket } = request;
  const value = parseJson(name, await readBody(request, (bytes) => connections.received(socket, bytes)));
  const end = connections.begin(socket);
  try {
    await performCall(options, name, value, { signal, answer: new CallAnswer(response) });
  } finally {
    connections.complete(socket);
    end();
  }
}

async function serveStream(options: ApiOptions, name: StreamName, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  const { connections } = options;
  const { socket } = request;
  const { line, rest } = await readFirstLine(request, (bytes) => connections.received(socket, bytes));
  const input = parseInput(name, parseJson(name, line));
  connections.complete(socket);
  const { leave } = await options.admission.enter(name, input, signal);
  const end = connections.begin(socket);
  const answer = new StreamAnswer(response);
  const stdin = takesInput(name, input) ? rest : undefined;
  acknowledge(response);
  try {
    const handler = options.handlers[name] as unknown as AnyStreamHandler;
    const result = await handler(input, { signal, stdin, emit: answer });
    if (!connections.hasRoom) await connections.room();
    answer.exit(result);
  } catch (error) {
    if (isDaemonStopping(signal)) answer.cut();
    else answer.error(withFilledHint(toFailure(error, name, signal, options.log), input));
  } finally {
    leave();
    end();
  }
}

/** Tells the client that its input is listened to, and that from here on the command may have begun: one that was not told may ask again. */
function acknowledge(response: ServerResponse): void {
  response.writeProcessing();
}
