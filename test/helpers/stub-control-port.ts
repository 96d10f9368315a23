import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { guestProgram } from "../../src/walls/guest-program.ts";

type Obey = (word: string, rest: string) => Promise<void>;

/** The machine's end of its control port: lines, and layers between them. */
export class StubControlPort {
  readonly #socket: Socket;
  readonly #obey: Obey;
  #rest = "";
  #work = Promise.resolve();
  /** Who gets what comes, while it is no lines. */
  #sink: Writable | undefined;

  constructor(socket: Socket, obey: Obey) {
    this.#socket = socket;
    this.#obey = obey;
    socket.on("data", (chunk: Buffer) => this.#hear(chunk)).resume();
  }

  say(line: string): void {
    this.#socket.write(`${line}\n`);
  }

  /** Unpacks the layer that the host sends when it is told to. */
  async receive(folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true });
    const unpack = spawn(guestProgram(), ["layer-unpack", "--to", folder], { stdio: ["pipe", "ignore", "inherit"] });
    this.#sink = unpack.stdin.on("error", () => undefined);
    this.say("send");
    const code = await new Promise((done) => unpack.once("close", done));
    this.#sink = undefined;
    if (code !== 0) throw new Error("cannot receive a layer");
    this.say("received");
  }

  #hear(chunk: Buffer): void {
    if (this.#sink) {
      this.#sink.write(chunk);
      return;
    }
    const lines = (this.#rest + chunk.toString("latin1")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [word = "", ...rest] = line.split(" ");
      this.#work = this.#work
        .then(() => this.#obey(word, rest.join(" ")))
        .catch((error: unknown) => this.say(`E${(error as Error).message}`));
    }
  }
}
