import type { CallLine } from "../model/call-lines.ts";
import { CallConnection, type AskOptions } from "./call-connection.ts";
import type { SocketAgent } from "./http-exchange.ts";

/** As many connections as there were calls at once; a call takes the one that was used last. */
export class CallPool {
  readonly #agent: SocketAgent;
  readonly #all = new Set<CallConnection>();
  readonly #idle: CallConnection[] = [];

  constructor(agent: SocketAgent) {
    this.#agent = agent;
  }

  async ask(call: CallLine, options: AskOptions): Promise<unknown> {
    const connection = this.#takeIdle() ?? (await this.#open(options.signal));
    try {
      return await connection.ask(call, options);
    } finally {
      if (connection.usable) this.#idle.push(connection);
      else this.#all.delete(connection);
    }
  }

  dropIdle(): void {
    for (const connection of this.#idle.splice(0)) {
      this.#all.delete(connection);
      connection.close();
    }
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }

  #takeIdle(): CallConnection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || connection.usable) return connection;
      this.#all.delete(connection);
    }
  }

  async #open(signal: AbortSignal | undefined): Promise<CallConnection> {
    const connection = await CallConnection.open(this.#agent, signal);
    this.#all.add(connection);
    return connection;
  }
}
