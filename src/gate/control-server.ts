import { type Server, type Socket, createServer } from "node:net";
import { LineSplitter } from "../base/line-splitter.ts";
import type {
  GateAnswers,
  GateAsks,
  GateEvents,
  GateFinish,
  GateFinished,
  GateHeard,
  GateOrder,
  GateReport,
} from "../model/gate-control.ts";
import type { EgressEvents } from "./egress/egress-events.ts";

/** The daemon has one; the next daemon may come before the kernel has told of the end of the last. */
const MAX_CONNECTIONS = 8;
/** So many events at a time, and the next when the daemon has these. */
const MAX_EVENTS = 64;

export interface ControlOptions {
  readonly report: () => GateReport;
  readonly events: EgressEvents;
  readonly obey: (order: GateOrder) => void;
  /** What waits for an answer. */
  readonly asks: () => GateAsks;
  readonly hearAnswers: (answers: GateAnswers["answers"]) => void;
}

/** What a daemon says. */
type Said = GateOrder | GateHeard | GateFinish | GateAnswers;

/** Where the daemon gives orders and hears what became of them. The socket is the keeper's: it stays when this process ends. */
export class ControlServer {
  readonly #server: Server;
  readonly #daemons = new Set<Socket>();
  readonly #options: ControlOptions;
  /** To whom events were given that are not heard of yet: to one daemon at a time, so that none is told twice without need. */
  #teller: Socket | undefined;
  #isTelling = false;
  /** Who waits until all is told. */
  #finishing: Socket | undefined;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#welcome(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  listen(fd: number): void {
    this.#server.listen({ fd });
  }

  /** To every daemon that is connected. */
  tell(): void {
    for (const socket of this.#daemons) this.#say(socket, this.#options.report());
  }

  /** To the daemon that came last: it is the one that holds the store. */
  tellAsks(): void {
    const socket = [...this.#daemons].at(-1);
    const asks = this.#options.asks();
    if (socket && asks.asks.length > 0) this.#say(socket, asks);
  }

  /** Soon: what comes together is told together. */
  tellEvents(): void {
    if (this.#isTelling || this.#teller || this.#daemons.size === 0) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      this.#giveEvents();
    });
  }

  #giveEvents(): void {
    const socket = [...this.#daemons].at(-1);
    const next: GateEvents | undefined = this.#options.events.after(0, MAX_EVENTS);
    if (!socket || !next || this.#teller) return;
    this.#teller = socket;
    this.#say(socket, next);
  }

  #welcome(socket: Socket): void {
    this.#daemons.add(socket);
    socket.on("error", () => undefined); // what follows is "close"
    socket.once("close", () => {
      this.#daemons.delete(socket);
      if (this.#teller === socket) this.#teller = undefined;
      this.tellEvents();
    });
    const lines = new LineSplitter({
      onLine: (line) => this.#hear(socket, JSON.parse(line.toString()) as Said),
    });
    socket.on("data", (chunk: Buffer) => lines.push(chunk));
    this.#say(socket, this.#options.report());
    this.tellEvents();
    this.tellAsks();
  }

  #hear(socket: Socket, said: Said): void {
    if ("heard" in said) {
      this.#options.events.heard(said.heard);
      if (this.#teller === socket) this.#teller = undefined;
      this.#giveEvents();
      this.#finish();
      return;
    }
    if ("finish" in said) {
      this.#finishing = socket;
      this.#options.events.tellAll();
      this.#giveEvents();
      this.#finish();
      return;
    }
    if ("answers" in said) {
      this.#options.hearAnswers(said.answers);
      return;
    }
    this.#options.obey(said);
    this.#say(socket, this.#options.report());
  }

  #finish(): void {
    if (!this.#finishing || !this.#options.events.isEmpty) return;
    this.#say(this.#finishing, { finished: true });
    this.#finishing = undefined;
  }

  #say(socket: Socket, what: GateReport | GateEvents | GateAsks | GateFinished): void {
    socket.write(`${JSON.stringify(what)}\n`);
  }
}
