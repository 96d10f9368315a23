import type { Readable, Writable } from "node:stream";
import type { Cloche } from "../sdk/cloche.ts";

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
export type HostSignal = "INT" | "TERM" | "HUP";

/** Everything of the process that a command may touch, so that a test can stand in for the terminal. */
export interface CliIo {
  readonly stdin: InputStream;
  /** Whether standard input is something to pass on: no terminal, and not `/dev/null`. Does not open it. */
  hasPipedInput(): boolean;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Record<string, string | undefined>;
  readonly cwd: string;
  /** What to type for this program: `cloche` where the PATH has it, else its path. */
  readonly program: string;
  /** Calls the handler for each signal the process gets; the returned function ends that. */
  onSignal(handler: (signal: HostSignal) => void): () => void;
  /** A client of the daemon; the caller closes it. */
  connect(): Promise<Cloche>;
}
