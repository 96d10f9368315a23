import { randomBytes } from "node:crypto";
import { isClocheError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { mcpTokenFile } from "../base/paths.ts";
import type { Config } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import type { McpToken } from "../model/health.ts";
import { type McpListener, type McpListenerOptions, openMcpListener } from "./mcp-listener.ts";
import { type LastingAddress, readTokenFile, removeTokenFile, writeTokenFile } from "./mcp-token-file.ts";

export interface McpAddressOptions extends Omit<McpListenerOptions, "port"> {
  readonly config: () => Config;
}

/** Where MCP is over HTTP: an address that this daemon has, and one that outlives it when `cloche mcp token` has asked for it. */
export class McpAddress {
  readonly #options: McpAddressOptions;
  readonly #file: string;
  #listener: McpListener | undefined;
  #lasting: LastingAddress | undefined;
  /** One change of the token after the other. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: McpAddressOptions) {
    this.#options = options;
    this.#file = mcpTokenFile(options.places.home);
  }

  async open(): Promise<void> {
    const { log } = this.#options;
    this.#lasting = readLasting(this.#file, log);
    const port = this.#fixedPort() ?? this.#lasting?.port;
    this.#listener = await openMcpListener({ ...this.#options, port });
    await this.#listener?.setLasting(this.#lasting?.token);
  }

  get url(): string | null {
    return this.#listener?.url ?? null;
  }

  /** Of this daemon alone. */
  get token(): string | null {
    return this.#listener?.token ?? null;
  }

  /** Somebody is served, or may come at any time without being able to start a daemon. */
  get isNeeded(): boolean {
    return this.#listener?.isActive === true || this.#lasting !== undefined;
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }

  /** The lasting token, made when there is none; another one; or none any more. */
  async lastingToken(action: "show" | "rotate" | "revoke"): Promise<McpToken> {
    const done = this.#changes.then(() => this.#change(action));
    this.#changes = done.catch(() => undefined);
    return await done;
  }

  async #change(action: "show" | "rotate" | "revoke"): Promise<McpToken> {
    if (action === "revoke") {
      await removeTokenFile(this.#file);
      await this.#set(undefined);
      return { url: this.url, token: null };
    }
    const listener = this.#listener;
    if (!listener) {
      throw failure("NOT_SUPPORTED", "This daemon serves no MCP over HTTP", { hint: "See daemon.log for the reason" });
    }
    this.#checkPort(listener, action);
    if (this.#lasting === undefined || this.#lasting.port !== listener.port || action === "rotate") {
      const kept = action === "rotate" ? undefined : this.#lasting?.token;
      const next = { port: listener.port, token: kept ?? randomBytes(32).toString("base64url") };
      await writeTokenFile(this.#file, next);
      await this.#set(next);
    }
    return { url: listener.url, token: this.#lasting?.token ?? null };
  }

  async #set(next: LastingAddress | undefined): Promise<void> {
    this.#lasting = next;
    await this.#listener?.setLasting(next?.token);
    this.#options.onChange();
  }

  /** Throws unless the next daemon will have the port that this one tells. */
  #checkPort({ port, missed }: McpListener, action: "show" | "rotate"): void {
    const fixed = this.#fixedPort();
    if (missed !== undefined && (fixed !== undefined || action === "show")) {
      const other =
        fixed === undefined ? "`cloche mcp token --rotate` takes another one" : "set mcp.port to another one";
      throw failure("PORT_TAKEN", `Port ${missed.port} of MCP over HTTP is taken${missed.holder}`, {
        hint: `End what has it and run \`cloche daemon stop\`, or ${other}; what listens there gets what your clients send`,
      });
    }
    if (fixed !== undefined && fixed !== port) {
      throw failure("CONFIG_INVALID", `This daemon listens on port ${port}, and mcp.port in config.yaml is ${fixed}`, {
        hint: "Run `cloche daemon stop`, then try again",
      });
    }
  }

  #fixedPort(): number | undefined {
    try {
      return this.#options.config().mcp?.port;
    } catch (error) {
      if (isClocheError(error) && error.code === "CONFIG_INVALID") return undefined; // told to who needs the file
      throw error;
    }
  }
}

function readLasting(file: string, log: Log): LastingAddress | undefined {
  try {
    return readTokenFile(file);
  } catch (error) {
    log.warn("the token of MCP over HTTP is not used", { file, error: messageOf(error) });
    return undefined;
  }
}
