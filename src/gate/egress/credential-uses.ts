import type { CredentialEvent } from "../../model/gate-control.ts";

/** How long uses of the same are counted before they are told. */
const GATHER_MS = 1000;
/** A wildcard may lead to many hosts: beyond so many at a time each use is told at once. */
const MAX_GATHERED = 64;

/**
 * Uses of credentials in requests of which nothing else is told. The first one is told at once, the same ones after it once in a second, with their number: an agent may send
 * hundreds of requests in that time, and each event is work for the gate, for the daemon and for its disk.
 */
export class CredentialUses {
  readonly #tell: (event: CredentialEvent) => void;
  /** Those that were told not long ago, with what came since. */
  #gathered = new Map<string, CredentialEvent & { requests: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (event: CredentialEvent) => void) {
    this.#tell = tell;
  }

  add(credentials: readonly string[], host: string, port: number): void {
    const key = `${host}:${port} ${credentials.join(" ")}`;
    const known = this.#gathered.get(key);
    if (known) {
      known.requests++;
      return;
    }
    const event: CredentialEvent = { kind: "credential.used", credentials: [...credentials], host, port, requests: 1 };
    if (this.#gathered.size < MAX_GATHERED) this.#gathered.set(key, { ...event, requests: 0 });
    this.#timer ??= setTimeout(() => this.tellAll(), GATHER_MS).unref();
    this.#tell(event);
  }

  /** What was counted so far, now. */
  tellAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = new Map();
    for (const [key, event] of gathered) {
      if (event.requests === 0) continue;
      // It goes on, it seems: the next ones wait as well.
      this.#gathered.set(key, { ...event, requests: 0 });
      this.#tell(event);
    }
    if (this.#gathered.size > 0) this.#timer = setTimeout(() => this.tellAll(), GATHER_MS).unref();
  }
}
