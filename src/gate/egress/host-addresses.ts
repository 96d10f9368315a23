import { createHash } from "node:crypto";

/** Names that were asked for below a wildcard, beside those that are listed. */
const MAX_ASKED = 4096;
const TRIES = 8;

/**
 * A loopback address for each host, by which a sandbox's tools reach it: 127.64.0.0 to 127.127.255.255. It follows from the name, so that it is the same in every
 * sandbox and for every gate; two names that would meet get different ones.
 */
export class HostAddresses {
  #listed = new Map<string, string>();
  /** Least recently asked first. */
  readonly #asked = new Map<string, string>();

  /** The exact names of a policy have theirs at once and for good. */
  list(hosts: Iterable<string>): void {
    this.#listed = new Map();
    for (const host of hosts) {
      const address = this.#free(host);
      this.#asked.delete(address);
      this.#listed.set(address, host);
    }
  }

  addressOf(host: string): string {
    const address = this.#free(host);
    if (this.#listed.get(address) === host) return address;
    // SECURITY: a sandbox that asks for names without end does not fill the gate's memory; an address that is used again never leads to another name than its
    // handshake or its request says (G-43)
    this.#asked.delete(address);
    this.#asked.set(address, host);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MAX_ASKED && oldest !== undefined) this.#asked.delete(oldest);
    return address;
  }

  /** The host that was meant by an address; for one that nobody asked this gate for, the name in the handshake tells. */
  hostAt(address: string, serverName: string | undefined): string | undefined {
    const known = this.#listed.get(address) ?? this.#asked.get(address);
    if (known !== undefined || serverName === undefined) return known;
    return candidate(serverName, 0) === address ? serverName : undefined;
  }

  /** Its own, or the first that nobody has; after some tries another's. */
  #free(host: string): string {
    let address = candidate(host, 0);
    for (let number = 1; number < TRIES; number++) {
      const owner = this.#listed.get(address) ?? this.#asked.get(address);
      if (owner === undefined || owner === host) break;
      address = candidate(host, number);
    }
    return address;
  }
}

function candidate(host: string, number: number): string {
  const [a = 0, b = 0, c = 0] = createHash("sha256").update(`${number} ${host}`).digest();
  return `127.${64 + (a & 63)}.${b}.${Math.min(254, Math.max(1, c))}`;
}
