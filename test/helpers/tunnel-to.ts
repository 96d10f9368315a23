import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

/** A proxy on loopback as a company has one, whose tunnels all lead to one port of this host. */
export class TunnelTo implements AsyncDisposable {
  isOpen = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number) {
    this.#server = createServer((_, response) => response.writeHead(403).end());
    this.#server.on("connection", (socket: Socket) => this.#keep(socket));
    this.#server.on("connect", (_, client: Socket, head: Buffer) => {
      if (!this.isOpen) {
        client.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
        return;
      }
      const upstream = this.#keep(connect(port, "127.0.0.1"));
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
  }

  static async start(port: number): Promise<TunnelTo> {
    const proxy = new TunnelTo(port);
    await new Promise<void>((done) => proxy.#server.listen(0, "127.0.0.1", done));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
    return socket;
  }
}
