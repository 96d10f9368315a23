import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Places } from "../base/paths.ts";

export interface McpDoorOptions {
  readonly program: string;
  readonly places: Places;
  readonly log: Log;
  /** Called when `isActive` may have changed. */
  readonly onChange: () => void;
}

/** How long the process may take to end by itself. */
const END_MS = 1000;
/** How many processes may die of a connection. */
const ATTEMPTS = 2;

/** A port on loopback; undefined when there is none to have. */
export async function openMcpDoor(options: McpDoorOptions): Promise<McpDoor | undefined> {
  // What comes in is for the process behind the door: not one byte is read here.
  const server = createServer({ pauseOnConnect: true });
  try {
    // SECURITY: nobody on another machine can connect (G-18)
    server.listen({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
  } catch (error) {
    options.log.warn("no MCP over HTTP", { error: messageOf(error) });
    return undefined;
  }
  return new McpDoor(options, server);
}

/**
 * Where MCP over HTTP comes in. The port is held here, so that its address is known and costs nothing; a process of its own serves it, started by the first
 * client. So whatever a stranger sends is read by a process that can do what a client can, and whose end is not the daemon's.
 */
export class McpDoor {
  readonly url: string;
  /** SECURITY: told on the private socket only, and to the process by a message: never in a file, an argument or an environment (G-18) */
  readonly token = randomBytes(32).toString("base64url");
  readonly #options: McpDoorOptions;
  readonly #server: Server;
  readonly #port: number;
  readonly #held = new Map<number, { readonly socket: Socket; readonly attempts: number }>();
  #count = 0;
  #child: ChildProcess | undefined;
  #active = false;

  constructor(options: McpDoorOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.#port}/mcp`;
    server.on("connection", (socket) => {
      socket.on("error", () => undefined); // it left while it waited
      this.#handOver(socket);
    });
    server.on("error", (error) => options.log.warn("MCP over HTTP", { error: error.message }));
  }

  /** Whether a client is served: the daemon stays for it. */
  get isActive(): boolean {
    return this.#active;
  }

  async close(): Promise<void> {
    this.#server.close();
    const child = this.#child;
    if (child === undefined) return;
    const ended = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    if (child.connected) child.disconnect();
    await ended;
    clearTimeout(timer);
  }

  /** A connection is held here too until the process says that it has it: one that dies with it in its hands does not leave a client waiting. */
  #handOver(socket: Socket, attempts = ATTEMPTS): void {
    if (attempts === 0 || socket.destroyed) {
      socket.destroy();
      return;
    }
    const connection = ++this.#count;
    this.#held.set(connection, { socket, attempts });
    this.#child ??= this.#start();
    this.#child.send({ connection }, socket, { keepOpen: true }, () => undefined); // what fails shows as the process's end
  }

  #take(message: { active: boolean } | { taken: number }): void {
    if ("active" in message) {
      this.#active = message.active;
      this.#options.onChange();
      return;
    }
    this.#held.get(message.taken)?.socket.destroy();
    this.#held.delete(message.taken);
  }

  #ended(): void {
    this.#child = undefined;
    this.#take({ active: false });
    const left = [...this.#held.values()];
    this.#held.clear();
    // The next process is for them.
    for (const { socket, attempts } of left) {
      if (this.#server.listening) this.#handOver(socket, attempts - 1);
      else socket.destroy();
    }
  }

  #start(): ChildProcess {
    const { program, places, log } = this.#options;
    const { home, cache } = places;
    // The home is there for who looks at a list of processes.
    const child = fork(program, ["--home", home], { cwd: "/", stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.on("message", (message) => this.#take(message as { active: boolean } | { taken: number }));
    child.on("error", (error) => log.warn("cannot serve MCP over HTTP", { error: error.message }));
    child.once("exit", (code, signal) => {
      log.info("MCP over HTTP ended", { code, signal });
      this.#ended();
    });
    child.send({ home, cache, port: this.#port, token: this.token });
    return child;
  }
}
