import { type Server, type Socket, createServer } from "node:net";
import { LineSplitter } from "../base/line-splitter.ts";
import type { GateOrder, GateReport } from "../model/gate-control.ts";

/** The daemon has one; the next daemon may come before the kernel has told of the end of the last. */
const MAX_CONNECTIONS = 8;

/** Where the daemon gives orders and hears what became of them. The socket is the keeper's: it stays when this process ends. */
export class ControlServer {
  readonly #server: Server;
  readonly #daemons = new Set<Socket>();
  readonly #report: () => GateReport;

  constructor(report: () => GateReport, obey: (order: GateOrder) => void) {
    this.#report = report;
    this.#server = createServer((socket) => this.#welcome(socket, obey));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  listen(fd: number): void {
    this.#server.listen({ fd });
  }

  /** To every daemon that is connected. */
  tell(): void {
    for (const socket of this.#daemons) this.#say(socket);
  }

  #welcome(socket: Socket, obey: (order: GateOrder) => void): void {
    this.#daemons.add(socket);
    socket.on("error", () => undefined); // what follows is "close"
    socket.once("close", () => this.#daemons.delete(socket));
    const lines = new LineSplitter({
      onLine: (line) => {
        obey(JSON.parse(line.toString()) as GateOrder);
        this.#say(socket);
      },
    });
    socket.on("data", (chunk: Buffer) => lines.push(chunk));
    this.#say(socket);
  }

  #say(socket: Socket): void {
    socket.write(`${JSON.stringify(this.#report())}\n`);
  }
}
