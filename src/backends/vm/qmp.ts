import type { Socket } from "node:net";
import { failure } from "../../model/error-codes.ts";
import { connectUnix } from "./connect-unix.ts";

interface Pending {
  readonly done: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

type Message = Readonly<Record<string, unknown>>;

/** The longest that an emulator has to say is far below. */
const MAX_LINE_BYTES = 1024 * 1024;

/** The emulator's own control channel. One at a time: the emulator listens to one. */
export class Qmp {
  readonly #socket: Socket;
  readonly #answers: Pending[] = [];
  #waiters: { readonly matches: (event: Message) => boolean; readonly pending: Pending }[] = [];
  #rest = "";
  #over: Error | undefined;

  static async connect(path: string): Promise<Qmp> {
    const qmp = new Qmp(await connectUnix(path));
    await qmp.execute("qmp_capabilities");
    return qmp;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => this.#receive(text));
    socket.on("error", () => undefined); // what follows is "close"
    socket.once("close", () => this.#end(failure("SANDBOX_LOST", "The machine has ended")));
  }

  execute(command: string, options: Record<string, unknown> = {}): Promise<unknown> {
    return new Promise((done, fail) => {
      if (this.#over) {
        fail(this.#over);
        return;
      }
      this.#answers.push({ done, fail });
      this.#socket.write(`${JSON.stringify({ execute: command, arguments: options })}\n`);
    });
  }

  /** The next event that matches, from now on. */
  event(matches: (event: Message) => boolean): Promise<unknown> {
    return new Promise((done, fail) => {
      if (this.#over) fail(this.#over);
      else this.#waiters.push({ matches, pending: { done, fail } });
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    try {
      if (this.#rest.length > MAX_LINE_BYTES) throw new Error("a line without end");
      for (const line of lines) if (line.trim()) this.#message(JSON.parse(line) as Message);
    } catch (error) {
      // SECURITY: an emulator that a guest has broken out to ends its own connection, not the daemon (G-10).
      this.#end(failure("GUEST_PROTOCOL", "The emulator says what cannot be understood", { cause: error }));
      this.#socket.destroy();
    }
  }

  #message(message: Message): void {
    if ("event" in message) {
      const told = this.#waiters.filter(({ matches }) => matches(message));
      this.#waiters = this.#waiters.filter((waiter) => !told.includes(waiter));
      for (const { pending } of told) pending.done(message);
    } else if ("return" in message) {
      this.#answers.shift()?.done(message["return"]);
    } else if ("error" in message) {
      const { desc } = message["error"] as { desc?: string };
      this.#answers.shift()?.fail(new Error(desc ?? "the emulator refused"));
    }
  }

  #end(error: Error): void {
    this.#over ??= error;
    for (const { fail } of [...this.#answers, ...this.#waiters.map(({ pending }) => pending)]) fail(this.#over);
    this.#answers.length = 0;
    this.#waiters = [];
  }
}
