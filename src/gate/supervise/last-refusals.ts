import { coversHost } from "../../policy/egress/host-match.ts";

/** A request that was refused because no route lets it out. */
export interface Refusal {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Without its query, and without what must not be repeated. */
  readonly path: string;
}

/** SECURITY: a sandbox that is refused at many hosts takes bounded memory of the gate (G-124) */
const MAX_HOSTS = 256;
const MAX_TEXT = 1024;

/** The last refusal for each host: what an agent asks for a route because of. */
export class LastRefusals {
  /** The oldest first. */
  readonly #last = new Map<string, Refusal>();

  add({ method, host, port, path }: Refusal): void {
    const key = host.slice(0, MAX_TEXT);
    this.#last.delete(key);
    this.#last.set(key, { method: method.slice(0, MAX_TEXT), host: key, port, path: path.slice(0, MAX_TEXT) });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_HOSTS && oldest !== undefined) this.#last.delete(oldest);
  }

  /** The newest for a host that one of these covers, in words; null where there is none. */
  causeOf(routes: readonly { readonly host: string }[]): string | null {
    const found = [...this.#last.values()].findLast(({ host }) => routes.some((route) => coversHost(route.host, host)));
    if (!found) return null;
    // A name that was looked up has no port.
    const { method, host, port, path } = found;
    return `${method} ${host}${port === 0 ? "" : `:${port}`}${path}, which was refused`;
  }
}
