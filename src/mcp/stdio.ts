import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Cloche } from "../sdk/cloche.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { LineTransport } from "./line-transport.ts";
import { buildServer } from "./mcp-server.ts";
import { chooseParts, type ServerOptions } from "./server-options.ts";

export interface StdioOptions extends ServerOptions {
  readonly cwd: string;
  /** To standard output; see `protocol-stdout.ts`. */
  readonly write: (line: string) => Promise<void>;
}

/** How long calls may tidy up after the client has gone. */
const LAST_MS = 10_000;

/** Serves the client at the other end of standard input and output, until it goes. */
export async function serveOnStdio({ cwd, write, ...options }: StdioOptions): Promise<void> {
  const cloche = new Cloche();
  const parts = chooseParts(options, cwd, cloche);
  try {
    const calls = new CallsUnderWay();
    const transport = new LineTransport(process.stdin, write);
    const stop = () => void transport.close();
    process.once("SIGINT", stop).once("SIGTERM", stop).once("SIGHUP", stop);
    const tell = (error: Error) => process.stderr.write(`mcp: ${error.message}\n`);
    serveStdio(() => buildServer(parts, calls), { transport, onerror: tell });
    // While the client reads the answer to its first message.
    setImmediate(() => void import("./describe-tools.ts"));
    await transport.ended;
    await Promise.race([calls.settled(), new Promise((resolve) => setTimeout(resolve, LAST_MS).unref())]);
  } finally {
    await cloche.close();
    await parts.source[Symbol.asyncDispose]();
  }
}
