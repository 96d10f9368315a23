import { placesFrom } from "../base/paths.ts";
import type { McpTransport } from "./mcp-transport.ts";
import { selectTools } from "./profiles.ts";
import type { ServerOptions } from "./server-options.ts";

export interface CreateServerOptions extends ServerOptions {
  /** Instead of `$CLOCHE_HOME`. */
  readonly home?: string | undefined;
}

/** The MCP server in a program of yours. One server serves one client. */
export interface EmbeddedServer extends AsyncDisposable {
  /** Resolves when it answers; the protocol library is loaded now. */
  connect(transport: McpTransport): Promise<void>;
  /** Ends the calls that are under way and closes the transport. Idempotent. */
  close(): Promise<void>;
}

/** What `cloche mcp serve` serves, over a transport of yours. Throws for options that do not fit. */
export function createServer(options: CreateServerOptions = {}): EmbeddedServer {
  const { home, ...rest } = options;
  selectTools(rest.profile, rest.mode);
  const places = placesFrom(process.env, home);
  let connected: Promise<AsyncDisposable> | undefined;
  const close = async () => {
    await (await connected?.catch(() => undefined))?.[Symbol.asyncDispose]();
  };
  return {
    async connect(transport) {
      connected = import("./embedded.ts").then(({ connectServer }) => connectServer(rest, places.home, transport));
      await connected;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
