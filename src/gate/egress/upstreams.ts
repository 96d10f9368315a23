import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { EgressOrder } from "../../model/egress-order.ts";
import { OtherProtocol } from "./connecting.ts";
import { type Destination, Trust, dial, secured } from "./dial.ts";
import type { Patience } from "./patience.ts";
import type { OutgoingRequest, UpstreamCall } from "./upstream-call.ts";
import { Http1Origin } from "./upstream-http1.ts";
import { Http2Connection } from "./upstream-http2.ts";

/** Upstreams that are known at a time; the one that was used longest ago gives way. */
const MAX_ORIGINS = 64;

/**
 * Connections to upstreams. They outlive a change of the policy, but for what the change is about. A request of HTTP/2 goes on as one where the upstream speaks it;
 * others go as HTTP/1.1, where the upstream speaks that.
 */
export class Upstreams {
  readonly #trust = new Trust();
  readonly #patience: Patience;
  readonly #origins = new Map<string, Origin>();
  /** The one that was used last: nearly every request goes where the one before it went. */
  #last: { readonly to: Destination; readonly wayOut: EgressOrder["way_out"]; readonly origin: Origin } | undefined;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  origin(to: Destination, wayOut: EgressOrder["way_out"]): Origin {
    if (this.#last && isSame(this.#last.to, to) && this.#last.wayOut === wayOut) return this.#last.origin;
    const origin = this.#known(to, wayOut);
    this.#last = { to, wayOut, origin };
    return origin;
  }

  #known(to: Destination, wayOut: EgressOrder["way_out"]): Origin {
    const { route } = to;
    const key = [to.scheme, to.host, to.port, route.connect, route.ca, wayOut.proxy, wayOut.ca].join(" ");
    const origin = this.#origins.get(key) ?? new Origin(to, wayOut, this.#trust, this.#patience);
    this.#origins.delete(key);
    this.#origins.set(key, origin);
    const [oldest] = this.#origins;
    if (oldest && this.#origins.size > MAX_ORIGINS) {
      this.#origins.delete(oldest[0]);
      oldest[1].retire();
    }
    return origin;
  }
}

/** Of one order: a route of another one is another object. */
const isSame = (one: Destination, other: Destination): boolean =>
  one.route === other.route && one.host === other.host && one.port === other.port && one.scheme === other.scheme;

/** One upstream. */
export class Origin {
  readonly #to: Destination;
  readonly #wayOut: EgressOrder["way_out"];
  readonly #trust: Trust;
  readonly #patience: Patience;
  readonly #http1: Http1Origin;
  /** Connected for HTTP/2, and found to speak HTTP/1.1. */
  readonly #spare: Socket[] = [];
  #http2: Promise<Http2Connection | undefined> | undefined;
  /** Found to speak HTTP/2 alone. */
  #isOnlyHttp2 = false;

  constructor(to: Destination, wayOut: EgressOrder["way_out"], trust: Trust, patience: Patience) {
    this.#to = to;
    this.#patience = patience;
    this.#wayOut = wayOut;
    this.#trust = trust;
    this.#http1 = new Http1Origin(
      to.host,
      patience,
      async () => this.#spare.pop() ?? (await this.#connect(["http/1.1"])),
    );
  }

  get http1(): Http1Origin {
    return this.#http1;
  }

  async call(request: OutgoingRequest, prefersHttp2: boolean): Promise<UpstreamCall> {
    if (this.#to.scheme === "http") return this.#http1.call(request);
    if (!prefersHttp2 && !this.#isOnlyHttp2) {
      try {
        return await this.#http1.call(request);
      } catch (error) {
        if (!(error instanceof OtherProtocol)) throw error;
        this.#isOnlyHttp2 = true;
      }
    }
    const connection = await this.#shared();
    return connection ? connection.call(request) : this.#http1.call(request);
  }

  /** No more requests: connections close when those under way are done. */
  retire(): void {
    void this.#http2?.then((connection) => connection?.close()).catch(() => undefined);
    for (const socket of this.#spare) socket.destroy();
    this.#http1.close();
  }

  async #connect(protocols: readonly string[]): Promise<Socket> {
    const socket = await dial(this.#to, this.#wayOut);
    if (this.#to.scheme === "http") return socket;
    return await secured(socket, this.#to, this.#trust.context(this.#to.route, this.#wayOut), protocols);
  }

  /** Undefined where the upstream speaks no HTTP/2, which is remembered. */
  async #shared(): Promise<Http2Connection | undefined> {
    const known = await this.#http2;
    if (this.#http2 && (known === undefined || known.isOpen)) return known;
    const made = this.#connect(["h2", "http/1.1"]).then((socket) => {
      if ((socket as TLSSocket).alpnProtocol === "h2") {
        return new Http2Connection(this.#to.host, this.#patience, socket as TLSSocket, () => {
          if (this.#http2 === made) this.#http2 = undefined;
        });
      }
      this.#spare.push(socket);
      socket.once("close", () =>
        this.#spare.splice(0, this.#spare.length, ...this.#spare.filter((one) => one !== socket)),
      );
      return undefined;
    });
    this.#http2 = made;
    made.catch(() => {
      if (this.#http2 === made) this.#http2 = undefined;
    });
    return await made;
  }
}
