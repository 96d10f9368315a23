import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { Duplex } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import type { GitContext, ServedRepo } from "./git-context.ts";
import { UpstreamUnavailable } from "./mirror.ts";
import { advertiseFetch, serveFetch } from "./serve-fetch.ts";
import { advertisePush, servePush } from "./serve-push.ts";
import { serveSigning } from "./serve-signing.ts";
import { type Pause, Slots } from "../../base/slots.ts";
import {
  FETCHES_AT_ONCE,
  HELD_AT_ONCE,
  MAX_FETCH_BYTES,
  MAX_PACK_BYTES,
  PUSHES_AT_ONCE,
  SIGNATURES_AT_ONCE,
} from "./limits.ts";

const MAX_HEAD = 32 * 1024;
/** No name of a repository begins like that. */
const SIGN_PATH = "/-/sign";
const PATH =
  /^\/([A-Za-z0-9][A-Za-z0-9._-]{0,63}?)(?:\.git)?\/*(\/info\/refs|\/git-upload-pack|\/git-receive-pack|\/info\/lfs\/.*|)$/;

/** An answer that is no protocol: git shows its text to the user. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** The git door of a sandbox: smart HTTP, for the repositories of its bottle and no others. */
export class GitDoor {
  readonly #context: GitContext;
  readonly #server: Server;
  /** SECURITY: a sandbox that asks for much at once waits for itself (G-87) */
  readonly #pushes = new Slots(PUSHES_AT_ONCE);
  readonly #fetches = new Slots(FETCHES_AT_ONCE);
  readonly #signatures = new Slots(SIGNATURES_AT_ONCE);
  #held = 0;

  constructor(context: GitContext) {
    this.#context = context;
    this.#server = createServer({ maxHeaderSize: MAX_HEAD, requestTimeout: 0, headersTimeout: 60_000 });
    this.#server.on("request", (request, response) => void this.serve(request, response));
    this.#server.on("checkContinue", (request, response) => {
      response.writeContinue();
      void this.serve(request, response);
    });
    this.#server.on("clientError", (_error, socket: Duplex) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      else socket.destroy();
    });
  }

  accept(stream: Duplex): void {
    this.#server.emit("connection", stream);
  }

  /** Never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined);
    try {
      await this.#answer(request, response);
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      if (error instanceof Refused) answerText(request, response, error.status, error.message);
      else if (error instanceof UpstreamUnavailable)
        answerText(
          request,
          response,
          502,
          // SECURITY: what an upstream says may have the credential in it that it was given (G-157)
          `cloche: the upstream does not answer, and nothing old is served: ${this.#context.scan().redactText("path", error.message).value}`,
        );
      else {
        this.#context.log.warn("a request for git failed", { reason: messageOf(error) });
        answerText(
          request,
          response,
          500,
          "cloche: the git gate could not do it; the operator finds the reason in its log",
        );
      }
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === SIGN_PATH && request.method === "POST") {
      requireLength(request, MAX_FETCH_BYTES);
      await this.#signatures.during(() => serveSigning(this.#context, request, response));
      return;
    }
    const { repo, action, query } = this.#find(request);
    if (action.startsWith("/info/lfs")) {
      answerLfs(request, response);
      return;
    }
    const method = request.method ?? "";
    if (action === "/info/refs" && (method === "GET" || method === "HEAD")) {
      const service = query.get("service");
      if (service === "git-upload-pack") await advertiseFetch(this.#context, repo, request, response);
      else if (service === "git-receive-pack") await advertisePush(this.#context, repo, response);
      else throw new Refused(403, "cloche: the git gate speaks git's smart protocol only; use git 1.6.6 or newer");
      return;
    }
    if (method !== "POST" || action === "" || action === "/info/refs")
      throw new Refused(405, "cloche: there is nothing here but git; use git clone, fetch or push");
    if (action === "/git-upload-pack") {
      requireLength(request, MAX_FETCH_BYTES);
      await this.#fetches.during(() => serveFetch(this.#context, repo, request, response));
    } else {
      requireLength(request, MAX_PACK_BYTES);
      await this.#pushes.during((pause) =>
        servePush(this.#context, repo, request, response, (waiting) => this.#hold(pause, waiting)),
      );
    }
  }

  /** SECURITY: pushes that wait for the operator take no place of others, and are bounded themselves (G-128) */
  async #hold<Answer>(pause: Pause, waiting: () => Promise<Answer>): Promise<Answer | undefined> {
    if (this.#held >= HELD_AT_ONCE) return undefined;
    this.#held++;
    try {
      return await pause(waiting);
    } finally {
      this.#held--;
    }
  }

  #find(request: IncomingMessage): { repo: ServedRepo; action: string; query: URLSearchParams } {
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const [, name, action = ""] = PATH.exec(path) ?? [];
    const repo = name === undefined ? undefined : (this.#context.find(name) ?? this.#context.find(`${name}.git`));
    if (repo) return { repo, action, query: new URLSearchParams(query) };
    const names = this.#context.names();
    const declared = names.length === 0 ? "none is declared" : `declared are: ${names.join(", ")}`;
    // SECURITY: a repository that the bottle does not name is not there (G-88)
    throw new Refused(
      404,
      `cloche: the bottle has no such repository; ${declared}\nhint: the operator can add it to git.repos of the bottle`,
    );
  }
}

/** SECURITY: nothing is read that has no length, a wrong one, or too great a one (G-87) */
function requireLength(request: IncomingMessage, most: number): void {
  const { "content-length": length, "transfer-encoding": coding, "content-encoding": packed } = request.headers;
  if (length === undefined && coding === undefined)
    throw new Refused(400, "cloche: the request says neither how long it is nor that it comes in parts");
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new Refused(400, "cloche: the length of the request is no number");
  if (length !== undefined && Number(length) > most)
    throw new Refused(413, `cloche: the request has ${length} bytes, and the git gate takes at most ${most}`);
  if (packed !== undefined && packed !== "gzip" && packed !== "identity")
    throw new Refused(415, "cloche: the request is packed in a way that the git gate does not know");
}

function answerText(request: IncomingMessage, response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(`${text}\n`);
  const isRead = request.complete || request.readableEnded;
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": body.length,
    "cache-control": "no-cache",
    ...(isRead ? {} : { connection: "close" }),
  });
  response.end(body);
  if (!isRead) request.resume();
}

function answerLfs(request: IncomingMessage, response: ServerResponse): void {
  const body = Buffer.from(
    JSON.stringify({
      message:
        "cloche: the git gate carries no LFS objects; push the files themselves, or have the operator fetch them",
    }),
  );
  response.writeHead(501, {
    "content-type": "application/vnd.git-lfs+json",
    "content-length": body.length,
    connection: "close",
  });
  response.end(body);
  request.resume();
}
