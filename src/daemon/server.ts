import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Log } from "../base/log.ts";
import { failure } from "../model/error-codes.ts";
import { OPERATIONS, type OperationName } from "../model/operations.ts";
import { CallAnswer } from "./call-answer.ts";
import {
  isDaemonStopping,
  type CallHandler,
  type Handlers,
  type LifeHandlers,
  type StreamHandler,
  type StreamName,
} from "./handlers.ts";
import type { InFlight } from "./in-flight.ts";
import { parseInput, readBody, readFirstLine } from "./request-body.ts";
import { StreamAnswer } from "./stream-answer.ts";
import { toFailure } from "./to-failure.ts";

export interface ApiOptions {
  readonly handlers: Handlers & LifeHandlers;
  readonly version: string;
  readonly inFlight: InFlight;
  readonly log: Log;
}

/** `POST /v1/OPERATION`: JSON in; lines or frames out. */
export function createApiServer(options: ApiOptions): Server {
  const server = createServer((request, response) => {
    void serve(options, request, response);
  });
  // A command may run for a day with its input open; the peers are the user's own processes.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.timeout = 0;
  server.keepAliveTimeout = 0;
  return server;
}

const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name);
const STREAMS: ReadonlySet<string> = new Set<StreamName>(["streamWorkspace", "attachCommand", "attachShell"]);
const isStream = (name: OperationName): name is StreamName => STREAMS.has(name);

/** Whether the request's body goes on as standard input after its first line. A shell always takes what is typed. */
const takesInput = (name: StreamName, input: object): boolean =>
  name === "attachShell" || ("stdin" in input && input.stdin === true);

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
    const operation = route(options.version, request, name);
    options.log.debug("operation", { operation });
    if (isStream(operation)) await serveStream(options, operation, { request, response, signal: abort.signal });
    else await serveCall(options, operation, { request, response, signal: abort.signal });
  } catch (error) {
    // Nothing of the operation has begun. The rest of the body is read and dropped, or the client would not get to the answer.
    new CallAnswer(response).error(toFailure(error, name, abort.signal, options.log));
    request.resume();
  }
  // Over when the answer has left and the handler has returned: one whose client went away may still be tidying up.
  await closed;
  end();
}

function route(version: string, request: IncomingMessage, name: string): OperationName {
  const theirs = request.headers["x-cloche-version"];
  if (theirs !== version && name !== "daemonStatus" && name !== "stopDaemon") {
    throw failure(
      "DAEMON_VERSION",
      `The daemon is cloche ${version} and was asked by ${theirs === undefined ? "an unknown version" : `cloche ${String(theirs)}`}`,
    );
  }
  if (request.method === "POST" && isOperation(name)) return name;
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
  const input = parseInput(name, await readBody(request));
  const answer = new CallAnswer(response);
  acknowledge(response);
  try {
    const handler = options.handlers[name] as CallHandler<OperationName>;
    answer.result(await handler(input, { signal, progress: (progress) => answer.progress(progress) }));
  } catch (error) {
    answer.error(toFailure(error, name, signal, options.log));
  }
}

async function serveStream(options: ApiOptions, name: StreamName, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  const { line, rest } = await readFirstLine(request);
  const input = parseInput(name, line);
  const answer = new StreamAnswer(response);
  const stdin = takesInput(name, input) ? rest : undefined;
  acknowledge(response);
  try {
    const handler = options.handlers[name] as StreamHandler<StreamName>;
    answer.exit(await handler(input, { signal, stdin, emit: answer }));
  } catch (error) {
    if (isDaemonStopping(signal)) answer.cut();
    else answer.error(toFailure(error, name, signal, options.log));
  }
}

/** Tells the client that from here on the operation may have happened: one that was not told may ask again. */
function acknowledge(response: ServerResponse): void {
  response.writeProcessing();
}
