import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { messageOf } from "../base/errors.ts";
import { descriptorLimit } from "../base/descriptor-limit.ts";
import type { Log } from "../base/log.ts";
import { userOfSocket } from "../base/loopback-users.ts";
import type { Places } from "../base/paths.ts";

export interface McpListenerOptions {
  readonly program: string;
  readonly places: Places;
  readonly log: Log;
  /** Called when `isActive` may have changed. */
  readonly onChange: () => void;
  /** To be had again by the next daemon; undefined: any that is free. */
  readonly port: number | undefined;
}

/** A port that was to be ours. */
export interface MissedPort {
  readonly port: number;
  /** " by …", or nothing when the system does not tell. */
  readonly holder: string;
}

const HOST = "127.0.0.1";
/** How long the process may take to end by itself, and to forget a token. */
const END_MS = 1000;
/** How many processes may die of a connection. */
const ATTEMPTS = 2;
/** As many connections are with the process at once before it has said that it has them: it reads what one has to say before it gets the next ones. */
const MAX_IN_HAND = 32;
/** And as many wait for that here. */
const MAX_WAITING = 256;
/** A process that cannot be started is not tried again before. */
const RETRY_MS = 1000;

/** What the process says: whether it has a client, which connection it has, that it knows the tokens it was told. */
type FromProcess = { active: boolean } | { taken: number } | { known: true };

interface Connection {
  readonly socket: Socket;
  readonly attempts: number;
}

/** A port on loopback: the one that was asked for, else one that is free; undefined when there is none to have. */
export async function openMcpListener(options: McpListenerOptions): Promise<McpListener | undefined> {
  const { port, log } = options;
  try {
    if (port === undefined) return new McpListener(options, await listen(0), undefined);
    const server = await listen(port).catch((error: unknown) => {
      log.warn("the port of MCP over HTTP is not to be had", { port, error: messageOf(error) });
      return undefined;
    });
    if (server) return new McpListener(options, server, undefined);
    const holder = await holderOf(port);
    log.warn("another program listens where clients of MCP over HTTP connect", { port, holder });
    // Who asks this daemon for its address is served all the same.
    return new McpListener(options, await listen(0), { port, holder });
  } catch (error) {
    log.warn("no MCP over HTTP", { error: messageOf(error) });
    return undefined;
  }
}

async function listen(port: number): Promise<Server> {
  // What comes in is for the process behind the listener: not one byte is read here.
  const server = createServer({ pauseOnConnect: true });
  // SECURITY: nobody on another machine can connect (G-18)
  server.listen({ host: HOST, port });
  await once(server, "listening");
  return server;
}

async function holderOf(port: number): Promise<string> {
  const user = (await userOfSocket({ address: HOST, port })) ?? (await userOfSocket({ address: "0.0.0.0", port }));
  if (user === undefined) return "";
  return user === process.getuid?.() ? " by a program of your own" : ` by a program of the user with the id ${user}`;
}

/**
 * Where MCP over HTTP comes in. The port is held here, so that its address is known and costs nothing; a process of its own serves it, started by the first
 * client. So whatever a stranger sends is read by a process that can do what a client can, and whose end is not the daemon's.
 */
export class McpListener {
  readonly url: string;
  /** Of this daemon alone. SECURITY: told on the private socket only, and to the process by a message: never in a file, an argument or an environment (G-18) */
  readonly token = randomBytes(32).toString("base64url");
  readonly #options: McpListenerOptions;
  readonly #server: Server;
  readonly port: number;
  /** The port that clients with a fixed configuration connect to, when another program has it. */
  readonly missed: MissedPort | undefined;
  #lasting: string | undefined;
  /** Who waits for the process to say that it knows which tokens there are. */
  #knows: (() => void) | undefined;
  /** In the hands of the process. */
  readonly #held = new Map<number, Connection>();
  /** The next to be handed over, first come first. */
  readonly #waiting = new Set<Connection>();
  readonly #maxWaiting = Math.min(MAX_WAITING, Math.floor(descriptorLimit() / 16));
  #count = 0;
  #retryAt = 0;
  #child: ChildProcess | undefined;
  #active = false;

  constructor(options: McpListenerOptions, server: Server, missed: MissedPort | undefined) {
    this.#options = options;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.missed = missed;
    this.url = `http://${HOST}:${this.port}/mcp`;
    server.on("connection", (socket) => this.#accept(socket));
    // Out of descriptors, for one: the next connection may find some.
    server.on("error", (error) => options.log.debug("MCP over HTTP", { error: error.message }));
  }

  /** Whether a client is served: the daemon stays for it. */
  get isActive(): boolean {
    return this.#active;
  }

  /** The token that outlives this daemon. When it returns, one that was before is worth nothing, and who used it is no longer connected. */
  async setLasting(token: string | undefined): Promise<void> {
    if (token === this.#lasting) return;
    this.#lasting = token;
    const child = this.#child;
    if (child === undefined) return;
    const known = new Promise<void>((resolve) => (this.#knows = resolve));
    child.send({ tokens: this.#tokens }, () => undefined);
    // SECURITY: a process that does not say that it has forgotten a token ends, and what it serves with it (G-34)
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await Promise.race([known, once(child, "exit")]);
    clearTimeout(timer);
  }

  get #tokens(): string[] {
    return [this.token, ...(this.#lasting === undefined ? [] : [this.#lasting])];
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const { socket } of this.#waiting) socket.destroy();
    const child = this.#child;
    if (child === undefined) return;
    const ended = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    if (child.connected) child.disconnect();
    await ended;
    clearTimeout(timer);
  }

  #accept(socket: Socket): void {
    // SECURITY: a program that connects without end takes neither the daemon's descriptors nor its memory; a connection that waits keeps its place (G-24, G-25)
    if (this.#waiting.size >= this.#maxWaiting) {
      socket.resetAndDestroy();
      return;
    }
    const connection = { socket, attempts: ATTEMPTS };
    socket.on("error", () => undefined); // it left while it waited
    socket.once("close", () => this.#waiting.delete(connection));
    this.#waiting.add(connection);
    this.#handOver();
  }

  /** A connection is held here too until the process says that it has it: one that dies with it in its hands does not leave a client waiting. */
  #handOver(): void {
    while (this.#held.size < MAX_IN_HAND) {
      const [connection] = this.#waiting;
      if (!connection) return;
      this.#waiting.delete(connection);
      this.#child ??= this.#start();
      if (!this.#child) {
        connection.socket.resetAndDestroy();
        continue;
      }
      const number = ++this.#count;
      this.#held.set(number, connection);
      // What fails shows as the process's end.
      this.#child.send({ connection: number }, connection.socket, { keepOpen: true }, () => undefined);
    }
  }

  #take(message: FromProcess): void {
    if ("known" in message) {
      this.#knows?.();
      return;
    }
    if ("active" in message) {
      this.#active = message.active;
      this.#options.onChange();
      return;
    }
    this.#held.get(message.taken)?.socket.destroy();
    this.#held.delete(message.taken);
    this.#handOver();
  }

  #ended(): void {
    this.#child = undefined;
    this.#take({ active: false });
    const left = [...this.#held.values()];
    this.#held.clear();
    // The next process is for them.
    for (const { socket, attempts } of left) {
      if (!this.#server.listening || attempts === 1 || socket.destroyed) socket.destroy();
      else this.#waiting.add({ socket, attempts: attempts - 1 });
    }
    if (this.#server.listening) this.#handOver();
  }

  /** Undefined when there is no process to have now, as when the host has no descriptors left: the daemon goes on without. */
  #start(): ChildProcess | undefined {
    if (Date.now() < this.#retryAt) return undefined;
    try {
      const child = this.#fork();
      if (child.pid !== undefined) return child;
    } catch (error) {
      this.#options.log.warn("cannot serve MCP over HTTP", { error: messageOf(error) });
    }
    this.#retryAt = Date.now() + RETRY_MS;
    return undefined;
  }

  #fork(): ChildProcess {
    const { program, places, log } = this.#options;
    const { home, cache } = places;
    // The home is named for people who look at a list of processes.
    const child = fork(program, ["--home", home], { cwd: "/", stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.on("message", (message) => this.#take(message as FromProcess));
    child.on("error", (error) => log.warn("cannot serve MCP over HTTP", { error: error.message }));
    child.once("exit", (code, signal) => {
      log.info("MCP over HTTP ended", { code, signal });
      this.#ended();
    });
    if (child.pid !== undefined) child.send({ home, cache, port: this.port, tokens: this.#tokens });
    return child;
  }
}
