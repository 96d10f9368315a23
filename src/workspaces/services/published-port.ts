import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { descriptorLimit } from "../../base/descriptor-limit.ts";
import { errnoOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failure } from "../../model/error-codes.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { RelayedConnections } from "./relayed-connections.ts";

const HOST = "127.0.0.1";
const MAX_CONNECTIONS = 256;
/** To all ports of all workspaces: descriptors and memory are the daemon's. */
const ALL = new RelayedConnections(Math.min(512, Math.floor(descriptorLimit() / 8)));

/** A port of the host whose connections go to a port of the sandbox. It is taken at once and answers when opened. */
export class PublishedPort {
  readonly guestPort: number;
  readonly hostPort: number;
  readonly host = HOST;
  readonly #live: LiveWorkspace;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #own = new RelayedConnections(MAX_CONNECTIONS);
  #isOpen = false;

  /** Port 0 chooses one that is free. Throws PORT_TAKEN. */
  static async listen(
    live: LiveWorkspace,
    { guestPort, hostPort, log }: { guestPort: number; hostPort: number; log: Log },
  ): Promise<PublishedPort> {
    const server = createServer({ allowHalfOpen: true });
    try {
      // SECURITY: nobody but this host reaches it (G-03).
      server.listen({ host: HOST, port: hostPort, exclusive: true });
      await once(server, "listening");
    } catch (error) {
      if (errnoOf(error) === "EADDRINUSE")
        throw failure("PORT_TAKEN", `Port ${hostPort} of ${HOST} is taken`, { cause: error });
      throw failure("INVALID_ARGUMENT", `Cannot publish on port ${hostPort} of ${HOST}: ${messageOf(error)}`, {
        cause: error,
      });
    }
    server.on("error", (error) => log.debug("a published port failed", { hostPort, error: error.message }));
    return new PublishedPort(live, server, guestPort);
  }

  private constructor(live: LiveWorkspace, server: Server, guestPort: number) {
    this.#live = live;
    this.#server = server;
    this.guestPort = guestPort;
    const address = server.address();
    this.hostPort = typeof address === "object" && address ? address.port : 0;
    server.on("connection", (socket) => this.#accept(socket));
  }

  /** From now on connections are relayed; before, they are closed. */
  open(): void {
    this.#isOpen = true;
  }

  /** Ends every connection and gives the port back. Idempotent. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    socket.on("error", () => undefined); // ends that connection only; "close" follows
    if (!this.#isOpen) {
      socket.resetAndDestroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    for (const bound of [this.#own, ALL]) bound.add(socket);
    void this.#relay(socket);
  }

  #touch(socket: Socket): void {
    for (const bound of [this.#own, ALL]) bound.touch(socket);
  }

  async #relay(socket: Socket): Promise<void> {
    try {
      const inner = await (await this.#live.guest()).connectPort(this.guestPort);
      joinStreams(socket, inner);
      for (const stream of [socket, inner]) stream.on("data", () => this.#touch(socket));
    } catch {
      socket.resetAndDestroy(); // nothing listens there, as the client of any closed port learns it
    }
  }
}

/** Both ways, each with its own end; when one side breaks the other goes too. */
function joinStreams(outer: Duplex, inner: Duplex): void {
  const follow = (one: Duplex, other: Duplex) => {
    one.on("error", () => undefined); // "close" follows
    one.once("close", () => {
      // A side that came to its end both ways has handed all on; the other may still have some of it to deliver.
      if (!one.readableEnded || !one.writableFinished) other.destroy();
    });
  };
  if (outer.destroyed) {
    inner.destroy();
    return;
  }
  follow(outer, inner);
  follow(inner, outer);
  outer.pipe(inner);
  inner.pipe(outer);
}
