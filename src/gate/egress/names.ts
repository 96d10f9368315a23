import type { Duplex } from "node:stream";
import { canonicalHost } from "../../model/host-name.ts";
import { answerNameQuery } from "../../policy/egress/name-query.ts";
import { denied, shownHost } from "./admission.ts";
import type { EgressContext } from "./egress-context.ts";
import { ExchangeRecord } from "./exchange-record.ts";
import { HostAddresses } from "./host-addresses.ts";

const MAX_QUERY = 4096;
const IDLE_MS = 10_000;
/** Names that were refused last: a tool that asks for one again and again is told of once. */
const MAX_REFUSED = 256;

/**
 * The names that a sandbox can resolve: hosts that its policy lists, at addresses of its own loopback interface. Nothing is asked of anybody.
 *
 * SECURITY: no question of a sandbox leaves the machine, and what is not listed has no address (G-43)
 */
export class Names {
  readonly #context: Pick<EgressContext, "policy" | "events">;
  readonly #addresses = new HostAddresses();
  readonly #refused = new Set<string>();

  constructor(context: Pick<EgressContext, "policy" | "events">) {
    this.#context = context;
  }

  /** After each change of the policy. */
  renew(): void {
    const { routes } = this.#context.policy().order;
    this.#addresses.list(routes.map(({ host }) => host).filter((host) => !host.startsWith("*")));
    this.#refused.clear();
  }

  hostAt(address: string, serverName: string | undefined): string | undefined {
    return this.#addresses.hostAt(address, serverName === undefined ? undefined : canonicalHost(serverName));
  }

  /** Undefined for what gets no answer. */
  answer(query: Buffer): Buffer | undefined {
    return answerNameQuery(query, (name) => this.#lookUp(name));
  }

  /** Queries over a connection: each has its length before it. */
  serve(stream: Duplex): void {
    let held: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => stream.destroy(), IDLE_MS);
    stream.on("error", () => stream.destroy());
    stream.once("close", () => clearTimeout(timer));
    stream.on("end", () => stream.end());
    stream.on("data", (chunk: Buffer) => {
      timer.refresh();
      held = Buffer.concat([held, chunk]);
      for (let size = sizeOf(held); size !== undefined && held.length >= 2 + size; size = sizeOf(held)) {
        const answer = this.answer(held.subarray(2, 2 + size));
        held = held.subarray(2 + size);
        if (!answer) return void stream.destroy();
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        stream.write(Buffer.concat([length, answer]));
      }
      // SECURITY: who takes no answers gets none (G-43)
      if ((sizeOf(held) ?? 0) > MAX_QUERY || stream.writableNeedDrain) stream.destroy();
    });
  }

  #lookUp(name: string): string | undefined {
    const host = canonicalHost(name);
    if (host !== undefined && this.#context.policy().names(host)) return this.#addresses.addressOf(host);
    this.#tellOf(host ?? name.replaceAll(/[^\x21-\x7e]/g, "?").toLowerCase());
    return undefined;
  }

  #tellOf(host: string): void {
    if (this.#refused.has(host)) return;
    const [oldest] = this.#refused;
    if (this.#refused.size >= MAX_REFUSED && oldest !== undefined) this.#refused.delete(oldest);
    this.#refused.add(host);
    const shown = shownHost(this.#context.policy(), host);
    const record = new ExchangeRecord(this.#context.events, { method: "RESOLVE", host: shown, port: 0, path: "" });
    denied(record, "EGRESS_DENIED", `The host ${shown} is not listed`);
  }
}

const sizeOf = (bytes: Buffer): number | undefined => (bytes.length < 2 ? undefined : bytes.readUInt16BE(0));
