import type { Socket } from "node:net";
import { randomBytes } from "node:crypto";
import { failure } from "../../model/error-codes.ts";
import { connectUnix } from "./connect-unix.ts";

const ENTROPY_BYTES = 64;
const MAX_LINE_BYTES = 4096;
/** A machine says little before it is asked. */
const MAX_UNEXPECTED_LINES = 64;
const MAX_COMPLAINT = 300;

/** The host's end of a machine's first process: lines both ways. */
export class ControlPort {
  readonly #socket: Socket;
  readonly #lines: string[] = [];
  readonly #expected = new Map<string, { done: () => void; fail: (error: Error) => void }>();
  #rest = "";
  #over: Error | undefined;

  static async connect(path: string): Promise<ControlPort> {
    return new ControlPort(await connectUnix(path));
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#receive(text));
    socket.on("error", () => undefined); // what follows is "close"
    socket.once("close", () => this.#end(failure("SANDBOX_LOST", "The machine has ended")));
  }

  say(...lines: readonly string[]): void {
    this.#socket.write(lines.map((line) => `${line}\n`).join(""));
  }

  /**
   * Tells a thawed machine what must differ between all machines that were thawed from the same state: its time, its randomness and its name. A spare machine
   * has no workspace yet, so it keeps the name it had.
   */
  renew(hostname: string | undefined): void {
    const now = Date.now();
    const time = `${Math.floor(now / 1000)}.${String((now % 1000) * 1_000_000).padStart(9, "0")}`;
    // SECURITY: the randomness of a frozen machine is known to all that are thawed from it (G-22).
    this.say(`time ${time}`, `entropy ${randomBytes(ENTROPY_BYTES).toString("hex")}`);
    if (hostname !== undefined) this.say(`hostname ${hostname}`);
  }

  async send(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of bytes)
      if (!this.#socket.write(chunk)) await new Promise<void>((done) => this.#whenWritable(done));
  }

  /** Resolves when the machine has done all that it was told before. */
  async settled(): Promise<void> {
    const word = randomBytes(6).toString("hex");
    const told = this.expect(`ready ${word}`);
    this.say(`ready ${word}`);
    await told;
  }

  /** Waits for a line, also one that came before; rejects with what the machine complains of. */
  expect(line: string): Promise<void> {
    return new Promise((done, fail) => {
      const at = this.#lines.indexOf(line);
      if (at >= 0) {
        this.#lines.splice(0, at + 1);
        done();
      } else if (this.#over) fail(this.#over);
      else this.#expected.set(line, { done, fail });
    });
  }

  close(): void {
    this.#over ??= failure("CANCELLED", "The machine is left alone");
    this.#socket.destroy();
  }

  #whenWritable(done: () => void): void {
    this.#socket.once("drain", done);
    this.#socket.once("close", done);
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = (lines.pop() ?? "").slice(0, MAX_LINE_BYTES);
    for (const line of lines) {
      const waiting = this.#expected.get(line);
      this.#expected.delete(line);
      if (waiting) waiting.done();
      else if (line.startsWith("E")) this.#complaint(line);
      else this.#lines.push(line);
    }
    // SECURITY: what a machine says unasked, which may have been taken over before it was saved, takes no room without end (G-10).
    if (this.#lines.length > MAX_UNEXPECTED_LINES) this.#refuse();
    // The last words of a machine that gives up have no end of line.
    if (this.#rest.startsWith("E")) this.#complaint(this.#rest);
  }

  #complaint(line: string): void {
    const full = /No space left/.test(line);
    const reason = line.slice(1, 1 + MAX_COMPLAINT);
    this.#end(failure(full ? "DISK_FULL" : "SANDBOX_START_FAILED", `Cannot start the machine: ${reason}`));
  }

  #refuse(): void {
    this.#lines.length = 0;
    this.#end(failure("GUEST_PROTOCOL", "The machine says what it was not asked"));
    this.#socket.destroy();
  }

  #end(error: Error): void {
    this.#over ??= error;
    for (const { fail } of this.#expected.values()) fail(this.#over);
    this.#expected.clear();
  }
}
