import { type Socket, connect } from "node:net";
import { LineSplitter } from "../base/line-splitter.ts";
import { onAbort } from "../base/on-abort.ts";
import { openSocketAddress } from "../base/unix-path.ts";
import type {
  GateAnswer,
  GateAnswers,
  GateAsk,
  GateAsks,
  GateEvents,
  GateFinish,
  GateFinished,
  GateHeard,
  GateOrder,
  GateReport,
} from "../model/gate-control.ts";

/** The daemon's connection to a gate that runs. */
export class GateConnection {
  /** Resolves when it has ended, by whichever side. */
  readonly closed: Promise<void>;
  /** What went through the gate, some of it at a time. */
  onEvents: (events: GateEvents) => void = () => undefined;
  onAsks: (asks: readonly GateAsk[]) => void = () => undefined;
  onReport: (report: GateReport) => void = () => undefined;
  readonly #socket: Socket;
  readonly #waiting = new Set<() => void>();
  #report: GateReport | undefined;
  #over = false;
  #isFinished = false;

  /** Rejects with the system's error when no keeper holds that socket. A gate that is just being started again answers when it is there. */
  static async open(path: string): Promise<GateConnection> {
    const address = openSocketAddress(path);
    try {
      const socket = connect(address.path);
      await new Promise<void>((done, fail) => socket.once("error", fail).once("connect", done));
      return new GateConnection(socket);
    } finally {
      address.release();
    }
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const lines = new LineSplitter({ onLine: (line) => this.#hear(line) });
    socket.on("data", (chunk: Buffer) => lines.push(chunk));
    socket.on("error", () => undefined); // what follows is "close"
    this.closed = new Promise((done) => {
      socket.once("close", () => {
        this.#over = true;
        this.#wake();
        done();
      });
    });
  }

  get isOpen(): boolean {
    return !this.#over;
  }

  /** What it has told last. */
  get report(): GateReport | undefined {
    return this.#report;
  }

  /** They are in a log, and need not be told again. */
  heard(through: number): void {
    const heard: GateHeard = { heard: through };
    this.#socket.write(`${JSON.stringify(heard)}\n`);
  }

  answer(answers: readonly GateAnswer[]): void {
    const said: GateAnswers = { answers };
    this.#socket.write(`${JSON.stringify(said)}\n`);
  }

  order(order: GateOrder): void {
    this.#socket.write(`${JSON.stringify(order)}\n`);
  }

  /** Resolves when all that it had to tell was heard, when the connection ends before, or at the signal. */
  async finish(signal: AbortSignal): Promise<void> {
    const said: GateFinish = { finish: true };
    this.#isFinished = false;
    this.#socket.write(`${JSON.stringify(said)}\n`);
    await this.#until(() => this.#isFinished, signal);
  }

  /** The first report, from now on or the last one, that is such; undefined when the connection ends before, or at the signal. */
  async when(isSuch: (report: GateReport) => boolean, signal: AbortSignal): Promise<GateReport | undefined> {
    const such = () => (this.#report && isSuch(this.#report) ? this.#report : undefined);
    return (await this.#until(() => such() !== undefined, signal)) ? such() : undefined;
  }

  /** Whether it came to that before the connection ended, or the signal came. */
  async #until(isSo: () => boolean, signal: AbortSignal): Promise<boolean> {
    const stopListening = onAbort(signal, () => this.#wake());
    try {
      while (!this.#over && !signal.aborted) {
        if (isSo()) return true;
        await new Promise<void>((done) => this.#waiting.add(done));
      }
      return false;
    } finally {
      stopListening();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(line: Buffer): void {
    const said = JSON.parse(line.toString()) as GateReport | GateEvents | GateAsks | GateFinished;
    if ("events" in said) {
      this.onEvents(said);
      return;
    }
    if ("asks" in said) {
      this.onAsks(said.asks);
      return;
    }
    if ("finished" in said) {
      this.#isFinished = true;
      this.#wake();
      return;
    }
    this.#report = said;
    this.onReport(said);
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }
}
