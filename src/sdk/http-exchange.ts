import { lstatSync } from "node:fs";
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import { requirePrivateFolder } from "../base/private-folder.ts";
import { openSocketAddress } from "../base/unix-path.ts";
import { packageVersion } from "../base/version.ts";
import { failure } from "../model/error-codes.ts";
import { lostBy, OWN_FOLDER } from "./connection-lost.ts";

/** Connects to the daemon's socket, also where its path is too long for an address. */
export class SocketAgent extends Agent {
  readonly #path: string;

  constructor(path: string, options: { keepAlive: boolean }) {
    super(options);
    this.#path = path;
  }

  /** Closes connections that no request uses. */
  dropIdle(): void {
    for (const socket of Object.values(this.freeSockets).flat()) socket?.destroy();
  }

  override createConnection(): Duplex {
    refuseForeignSocket(this.#path);
    const address = openSocketAddress(this.#path);
    const socket = connect({ path: address.path });
    socket.once("connect", address.release).once("close", address.release);
    return socket;
  }
}

// SECURITY: in a home that others can write to, somebody else could listen under this name and be told everything (G-14)
function refuseForeignSocket(path: string): void {
  const owner = lstatSync(path).uid; // first: where nobody listens, a home that is empty can still be closed
  requirePrivateFolder(dirname(path));
  if (owner === process.geteuid?.()) return;
  throw failure("DAEMON_UNREACHABLE", `Cannot use "${path}": it belongs to another user`, OWN_FOLDER);
}

export interface ExchangeOptions {
  agent: Agent;
  operation: string;
  body: Buffer;
  /** The body goes on after `body`; the caller ends it. */
  open?: boolean;
  signal?: AbortSignal | undefined;
  /** Called at most once, when the daemon has taken the request. */
  onTaken?: (request: ClientRequest) => void;
}

/** Opens a stream: sends its request and resolves with the head of the answer. */
export function exchange(options: ExchangeOptions): Promise<IncomingMessage> {
  const { agent, operation, body, open = false, signal, onTaken } = options;
  return new Promise((resolve, reject) => {
    let taken = false;
    const take = () => {
      if (!taken) onTaken?.(request);
      taken = true;
    };
    const fail = (error: unknown) => reject(lostBy(error, taken));
    const headers: Record<string, string | number> = {
      "content-type": "application/json",
      "x-cloche-version": packageVersion(),
      ...(open ? {} : { "content-length": body.length }),
    };
    let request: ClientRequest;
    try {
      request = httpRequest({
        agent,
        method: "POST",
        host: "localhost",
        path: `/v1/${operation}`,
        headers,
        ...(signal && { signal }),
      });
    } catch (error) {
      // What `createConnection` throws comes out here.
      fail(error);
      return;
    }
    request.on("error", fail);
    request.on("information", take);
    request.on("response", (response) => {
      take();
      resolve(response);
    });
    if (!open) request.end(body);
    else {
      request.write(body);
      request.flushHeaders();
    }
  });
}
