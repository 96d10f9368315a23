import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { isClocheError } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import { type Endpoint, settingHost } from "./endpoint.ts";
import { EngineRefusal, unreachable } from "./engine-failure.ts";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions {
  readonly query?: Query;
  /** Sent as JSON, or as a tar stream. */
  readonly body?: object | Readable;
  readonly signal?: AbortSignal | undefined;
  /** For the whole answer; 0 waits for ever. */
  readonly timeoutMs?: number;
}

const CALL_TIMEOUT_MS = 60_000;
/** No answer that we read as a whole is longer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** What an engine of 2019 speaks; older ones are not asked. */
const OLDEST_API = "1.40";

/** Speaks HTTP to a Docker engine: one connection for each call, so that none is ever stale. */
export class EngineClient {
  readonly endpoint: Endpoint;
  #prefix: Promise<string> | undefined;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  /** The answer's JSON; undefined when it is empty. Throws `EngineRefusal`, BACKEND_UNAVAILABLE or CANCELLED. */
  async call<Answer = undefined>(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const text = (await this.#whole(method, (await this.#versioned()) + path, options)).body.toString("utf8");
    return (text.trim() === "" ? undefined : this.#parse(text)) as Answer;
  }

  /** The answer's raw bytes. */
  async bytes(method: string, path: string, options: CallOptions = {}): Promise<Buffer> {
    return (await this.#whole(method, (await this.#versioned()) + path, options)).body;
  }

  /** The answer as it comes. The caller destroys it when it has read enough. */
  async stream(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const answer = await this.#send(method, (await this.#versioned()) + path, options);
    if ((answer.statusCode ?? 0) < 400) return answer;
    throw this.#refusal(answer.statusCode ?? 0, await this.#read(answer));
  }

  /** The lines of JSON that an import or a build answers with; throws what one of them says failed. */
  async lines(method: string, path: string, options: CallOptions = {}): Promise<Record<string, unknown>[]> {
    const text = (await this.bytes(method, path, { timeoutMs: 0, ...options })).toString("utf8");
    const lines = text
      .split("\n")
      .flatMap((line) => (line.trim() === "" ? [] : [this.#parse(line) as Record<string, unknown>]));
    const failed = lines.find((line) => typeof line["error"] === "string");
    if (failed) throw new EngineRefusal(500, String(failed["error"]));
    return lines;
  }

  /** Asked once: a path without a version is not promised to work in later engines. */
  #versioned(): Promise<string> {
    this.#prefix ??= this.#whole("GET", "/_ping", { timeoutMs: 10_000 }).then(({ answer }) => {
      const version = answer.headers["api-version"];
      if (typeof version !== "string" || !/^\d+\.\d+$/.test(version)) throw this.#noEngine();
      if (Number(version.split(".")[1]) < Number(OLDEST_API.split(".")[1])) {
        throw failure(
          "BACKEND_UNAVAILABLE",
          `The Docker engine at ${this.endpoint.address} is too old: its API is ${version}`,
          {
            hint: `Upgrade it: ${OLDEST_API} is needed, which Docker 19.03 has`,
          },
        );
      }
      return `/v${version}`;
    });
    this.#prefix.catch(() => (this.#prefix = undefined));
    return this.#prefix;
  }

  async #whole(method: string, path: string, options: CallOptions): Promise<{ answer: IncomingMessage; body: Buffer }> {
    const answer = await this.#send(method, path, options);
    const body = await this.#read(answer);
    if ((answer.statusCode ?? 0) >= 400) throw this.#refusal(answer.statusCode ?? 0, body);
    return { answer, body };
  }

  #send(
    method: string,
    path: string,
    { query = {}, body, signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
  ): Promise<IncomingMessage> {
    if (signal?.aborted) return Promise.reject(cancelled());
    const { socketPath, host, port, tls } = this.endpoint;
    const words = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    const json = body && !("pipe" in body) ? JSON.stringify(body) : undefined;
    const options = {
      method,
      path: words.length === 0 ? path : `${path}?${words.join("&")}`,
      headers: {
        host: "docker",
        ...(json !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(json) }),
        ...(body && json === undefined && { "content-type": "application/x-tar", "transfer-encoding": "chunked" }),
      },
      agent: false,
      ...(socketPath === undefined ? { host, port } : { socketPath }),
      ...(timeoutMs > 0 && { timeout: timeoutMs }),
    } as const;
    return new Promise((done, fail) => {
      const request: ClientRequest = tls
        ? httpsRequest({ ...options, ca: tls.ca, cert: tls.cert, key: tls.key, rejectUnauthorized: tls.verify })
        : httpRequest(options);
      const stopListening = onAbort(signal, () => request.destroy(cancelled()));
      request.once("timeout", () => request.destroy(new Error(`it did not answer within ${timeoutMs} ms`)));
      request.once("close", stopListening);
      request.once("error", (error) => fail(isClocheError(error) ? error : unreachable(this.endpoint, error)));
      request.once("response", (answer) => {
        // What is destroyed later has its reader told by `aborted`; an error nobody listens to would end the daemon.
        request.on("error", () => undefined);
        done(answer);
      });
      if (body && json === undefined) {
        const tar = body as Readable;
        tar.once("error", (error) => request.destroy(error));
        tar.pipe(request);
      } else request.end(json);
    });
  }

  #read(answer: IncomingMessage): Promise<Buffer> {
    return new Promise((done, fail) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) answer.destroy(new Error("its answer is too long"));
        else chunks.push(chunk);
      });
      answer.once("end", () => done(Buffer.concat(chunks)));
      answer.once("error", (error) => fail(isClocheError(error) ? error : unreachable(this.endpoint, error)));
    });
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#noEngine();
    }
  }

  #refusal(status: number, body: Buffer): Error {
    const text = body.toString("utf8").trim();
    try {
      const { message } = JSON.parse(text) as { message?: unknown };
      if (typeof message === "string") return new EngineRefusal(status, message.trim());
    } catch {
      // not JSON: told as it is
    }
    return new EngineRefusal(status, text.slice(0, 300) || `it answered with status ${status}`);
  }

  #noEngine(): Error {
    return failure("BACKEND_UNAVAILABLE", `What answers at ${this.endpoint.address} is no Docker engine`, {
      hint: `See what ${this.endpoint.source} names, or ${settingHost("an engine's address")}`,
    });
  }
}

const cancelled = () => failure("CANCELLED", "The call to the Docker engine was cancelled");
