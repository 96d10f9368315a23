import { writeFileSync } from "node:fs";
import { type Server, type Socket, connect, createServer } from "node:net";
import type { Installation } from "./installation.ts";
import { Upstream, listening } from "./egress-proxy.ts";

/** The world outside of an installation, on loopback: a proxy that its configuration names, behind which every name is one server. */
export class Outside implements AsyncDisposable {
  readonly upstream = new Upstream();
  /** `host:port` of each connection that the gate asked for. */
  readonly asked: string[] = [];
  /** Where its proxy listens. */
  port = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("data", (head: Buffer) => {
        const to = /^CONNECT (\S+) /.exec(head.toString("latin1"))?.[1] ?? "";
        this.asked.push(to);
        const port = to.endsWith(":80") ? this.upstream.plainPort : this.upstream.port;
        const upstream = connect(port, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n");
          socket.pipe(upstream).pipe(socket);
        });
        upstream.on("error", () => socket.destroy());
      });
    });
  }

  async open(at: Installation, hosts: readonly string[]): Promise<this> {
    await this.upstream.listen(hosts);
    this.port = await listening(this.#server);
    writeFileSync(at.path("outside-ca.pem"), this.upstream.keys.certificate);
    writeFileSync(
      `${at.home}/config.yaml`,
      `egress:\n  proxy: http://127.0.0.1:${this.port}\n  ca: ${at.path("outside-ca.pem")}\n`,
    );
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
    await this.upstream[Symbol.asyncDispose]();
  }
}
