import type { Socket } from "node:net";
import { Cloche } from "../sdk/cloche.ts";
import { HttpEndpoint } from "./http-endpoint.ts";

/**
 * The endpoint as a process of its own, started by the daemon for its first client. The daemon holds the port and hands over each connection, so the token
 * never is in a command line or an environment; when the daemon goes, so does this.
 */
interface Start {
  readonly home: string;
  readonly cache: string;
  readonly port: number;
  readonly tokens: readonly string[];
}

type FromDaemon = Start | { readonly tokens: readonly string[] } | { readonly connection: number };

let endpoint: HttpEndpoint | undefined;

process.on("message", (message: FromDaemon, socket: Socket | undefined) => {
  if ("home" in message) {
    endpoint = open(message);
    return;
  }
  if ("tokens" in message) {
    endpoint?.setTokens(message.tokens);
    process.send?.({ known: true });
    return;
  }
  // In the next turn, so that what this one has to say is read before many more come.
  setImmediate(() => process.send?.({ taken: message.connection }));
  // The client may have left on the way.
  if (!socket || !endpoint) return;
  endpoint.take(socket);
});
process.on("disconnect", () => process.exit(0));

function open({ home, cache, port, tokens }: Start): HttpEndpoint {
  let told = false;
  const opened: HttpEndpoint = new HttpEndpoint({
    cloche: new Cloche({ home, cache }),
    port,
    tokens,
    onChange: () => {
      if (opened.isActive === told) return;
      told = opened.isActive;
      process.send?.({ active: told });
    },
  });
  return opened;
}
