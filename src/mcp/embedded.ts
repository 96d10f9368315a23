import type { Transport } from "@modelcontextprotocol/server";
import { Cloche } from "../sdk/cloche.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { buildServer } from "./mcp-server.ts";
import type { McpTransport } from "./mcp-transport.ts";
import { chooseParts, type ServerOptions } from "./server-options.ts";

/** Connects a server to a transport; disposing of it ends its calls first. */
export async function connectServer(
  options: ServerOptions,
  home: string,
  transport: McpTransport,
): Promise<AsyncDisposable> {
  const cloche = new Cloche({ home });
  const parts = chooseParts(options, process.cwd(), cloche);
  const calls = new CallsUnderWay();
  const server = buildServer(parts, calls);
  // The caller's own copy of the library may be another version: only what `McpTransport` says is relied on.
  await server.connect(transport as unknown as Transport);
  return {
    async [Symbol.asyncDispose]() {
      await server.close();
      await calls.settled();
      await parts.source[Symbol.asyncDispose]();
      await cloche.close();
    },
  };
}
