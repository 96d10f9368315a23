import { type ChildProcessByStdio, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { ownProgram } from "./own-program.ts";

/** A role of our own program, in a process of its own that outlives this one. */
export interface StartOptions {
  /** The file that it has as stdout and stderr; without it, what it writes to stderr is its status. */
  readonly log?: string | undefined;
  /** Told what it says of itself. */
  readonly onStatus: (text: string) => void;
  /** Whether this process may end before it does. */
  readonly isBackground?: boolean;
}

export interface StartedRole {
  readonly pid: number;
  /** Its exit code, negative for a signal; undefined when nobody can tell any more. */
  readonly ended: Promise<number | undefined>;
}

interface Waiting {
  readonly isBackground: boolean;
  readonly onStatus: (text: string) => void;
  readonly started: (pid: number) => void;
  readonly failed: (error: Error) => void;
  readonly ended: (code: number | undefined) => void;
}

type Program = ChildProcessByStdio<Writable, Readable, null>;

const MAX_REQUEST_BYTES = 1 << 20;
const LENGTH_BYTES = 4;
const HEAD_BYTES = 9;

/**
 * Starts roles of our own program through `cloche-guest starter`, a small process that is there for as long as this one. Node starts a process by copying the tables
 * of all its memory, and nothing else moves meanwhile: four milliseconds in a daemon that has 150 MB.
 */
class Starter {
  #program: Program | undefined;
  #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #rest: Buffer = Buffer.alloc(0);

  async start(words: readonly string[], { log, onStatus, isBackground = false }: StartOptions): Promise<StartedRole> {
    const id = ++this.#lastId;
    const request = encode(id, [log ?? "", ...words]);
    if (request.length > MAX_REQUEST_BYTES) throw new Error("the arguments are too long");
    const program = this.#running();
    return await new Promise((done, failed) => {
      let ended: Waiting["ended"] = () => undefined;
      const end = new Promise<number | undefined>((settle) => (ended = settle));
      const started = (pid: number) => done({ pid, ended: end });
      this.#waiting.set(id, { isBackground, onStatus, started, failed, ended });
      this.#holdIfNeeded(program);
      program.stdin.write(request);
    });
  }

  #running(): Program {
    if (this.#program) return this.#program;
    const program = spawn(ownProgram(), ["starter"], {
      cwd: "/",
      detached: true, // Ctrl-C at a terminal is no reason to leave half of a removal
      env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#program = program;
    this.#rest = Buffer.alloc(0);
    program.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    program.stdin.on("error", () => undefined); // it has ended, which is told below
    program.once("error", (error) => this.#forget(program, error));
    program.once("close", () => this.#forget(program, new Error("the program that starts processes was ended")));
    hold(program, false);
    return program;
  }

  #holdIfNeeded(program: Program): void {
    hold(
      program,
      [...this.#waiting.values()].some(({ isBackground }) => !isBackground),
    );
  }

  /** Those that it has started go on; those that it has not are for their callers to start again. */
  #forget(program: Program, error: Error): void {
    if (this.#program !== program) return;
    this.#program = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) {
      one.failed(error);
      one.ended(undefined);
    }
  }

  #take(chunk: Buffer): void {
    let data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    while (data.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + data.readUInt32LE(0);
      if (data.length < end) break;
      this.#tell(
        data.readUInt32LE(LENGTH_BYTES),
        String.fromCharCode(data[HEAD_BYTES - 1] ?? 0),
        data.subarray(HEAD_BYTES, end),
      );
      data = data.subarray(end);
    }
    this.#rest = data;
  }

  #tell(id: number, kind: string, payload: Buffer): void {
    const one = this.#waiting.get(id);
    if (kind === "P") one?.started(payload.readInt32LE(0));
    else if (kind === "S") one?.onStatus(payload.toString());
    else {
      this.#waiting.delete(id);
      if (this.#program) this.#holdIfNeeded(this.#program);
      if (kind === "X") one?.ended(payload.readInt32LE(0));
      else one?.failed(new Error(payload.toString()));
    }
  }
}

/** Says whether this process has to stay for it. */
function hold(program: Program, isNeeded: boolean): void {
  for (const one of [program, program.stdin, program.stdout]) {
    if (!(one instanceof Socket) && one !== program) continue;
    if (isNeeded) one.ref();
    else one.unref();
  }
}

function encode(id: number, words: readonly string[]): Buffer {
  const text = Buffer.from(words.map((word) => `${word}\0`).join(""));
  const head = Buffer.alloc(2 * LENGTH_BYTES);
  head.writeUInt32LE(LENGTH_BYTES + text.length, 0);
  head.writeUInt32LE(id, LENGTH_BYTES);
  return Buffer.concat([head, text]);
}

const starter = new Starter();

/** Resolves once it has a process. */
export const startRole = (words: readonly string[], options: StartOptions): Promise<StartedRole> =>
  starter.start(words, options);
