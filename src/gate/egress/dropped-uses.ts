import type { CredentialEvent, GateEvent } from "../../model/gate-control.ts";

/** A wildcard may lead to many hosts: uses at so many are counted by themselves, and those at all others together. */
const MAX_HOSTS = 64;
const OTHER_HOSTS = { host: "*", port: 0 } as const;

/**
 * Uses of credentials in events that nobody took and that could not be kept. Their number is.
 *
 * SECURITY: an agent that has its gate tell very much does not have the use of a credential forgotten (G-113)
 */
export class DroppedUses {
  readonly #uses = new Map<string, CredentialEvent>();

  get isEmpty(): boolean {
    return this.#uses.size === 0;
  }

  add(event: GateEvent): void {
    if (!("credentials" in event) || event.credentials.length === 0) return;
    const { credentials } = event;
    const requests = event.kind === "credential.used" ? event.requests : 1;
    const own = JSON.stringify([credentials, event.host, event.port]);
    const isCounted = this.#uses.has(own) || this.#uses.size < MAX_HOSTS;
    const { host, port } = isCounted ? event : OTHER_HOSTS;
    const key = isCounted ? own : JSON.stringify([credentials, host, port]);
    const known = this.#uses.get(key)?.requests ?? 0;
    this.#uses.set(key, {
      kind: "credential.used",
      credentials: [...credentials],
      host,
      port,
      requests: known + requests,
    });
  }

  /** All of them, as they are told. */
  take(): CredentialEvent[] {
    const uses = [...this.#uses.values()];
    this.#uses.clear();
    return uses;
  }
}
