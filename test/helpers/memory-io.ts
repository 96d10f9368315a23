import { PassThrough, Writable } from "node:stream";
import type { CliIo, HostSignal, InputStream } from "../../src/cli/io.ts";
import type { Cloche } from "../../src/sdk/cloche.ts";

/** A stream that keeps what is written. */
export class MemoryOutput extends Writable {
  readonly isTTY: boolean;
  readonly columns = 80;
  readonly rows = 24;
  readonly #chunks: Buffer[] = [];

  constructor(isTTY = false) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.bytes.toString();
  }
}

export interface MemoryIo extends CliIo {
  readonly stdout: MemoryOutput;
  readonly stderr: MemoryOutput;
  readonly stdin: InputStream & PassThrough;
  /** As if the process got that signal. */
  send(signal: HostSignal): void;
}

/** A stand-in for the process around the CLI. `client` is what `connect` gives; without one, connecting is a fault of the test. */
export function createMemoryIo(
  options: { tty?: boolean; env?: Record<string, string>; client?: Partial<Cloche> } = {},
): MemoryIo {
  const handlers = new Set<(signal: HostSignal) => void>();
  return {
    stdin: new PassThrough(),
    hasPipedInput: () => true,
    stdout: new MemoryOutput(options.tty),
    stderr: new MemoryOutput(options.tty),
    env: { ...options.env },
    cwd: process.cwd(),
    program: "cloche",
    onSignal(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    connect: () =>
      options.client
        ? Promise.resolve({ close: () => Promise.resolve(), ...options.client } as Cloche)
        : Promise.reject(new Error("no client")),
    send(signal) {
      for (const handler of handlers) handler(signal);
    },
  };
}
