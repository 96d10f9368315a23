import type { Duplex } from "node:stream";
import type { Log } from "../../base/log.ts";
import type { EgressOrder } from "../../model/egress-order.ts";
import { Authority, type AuthorityKeys, newAuthority } from "../tls/authority.ts";
import type { Relayed } from "../relay-connection.ts";
import { collectAll } from "./collector.ts";
import { EgressEvents } from "./egress-events.ts";
import { Names } from "./names.ts";
import { PATIENCE, type Patience } from "./patience.ts";
import { PolicyInForce } from "./policy-in-force.ts";
import { ProxyDoor } from "./proxy-door.ts";
import { Upstreams } from "./upstreams.ts";

const SUBJECT = "cloche egress gate";
/** SECURITY: before it is told anything, a gate lets out nothing (G-35) */
const NOTHING: EgressOrder = { log: "all", routes: [], guarded: [], way_out: { proxy: null, ca: null } };

/** What stands behind egress doors. */
export class EgressGate {
  readonly events: EgressEvents;
  readonly names: Names;
  readonly #door: ProxyDoor;
  readonly #onWant: () => void;
  /** Set by whoever knows the repositories of the bottle. */
  gitDoor: (host: string) => string | undefined = () => undefined;
  #policy = new PolicyInForce(NOTHING);
  #keys: AuthorityKeys;
  #authority: Authority;
  #wants: readonly string[] = [];

  /** `keys` are those of a gate before this one, so that what the sandbox trusts stays. */
  constructor(
    log: Log,
    keys: AuthorityKeys | undefined,
    told: { onEvent: () => void; onWant: () => void },
    patience: Patience = PATIENCE,
  ) {
    this.#keys = keys ?? newAuthority(SUBJECT);
    this.#authority = new Authority(SUBJECT, this.#keys);
    this.#onWant = told.onWant;
    this.events = new EgressEvents(told.onEvent);
    this.names = new Names({ policy: () => this.#policy, events: this.events });
    this.#door = new ProxyDoor({
      policy: () => this.#policy,
      authority: () => this.#authority,
      upstreams: new Upstreams(patience),
      patience,
      events: this.events,
      gitDoor: (host) => this.gitDoor(host),
      want: (names) => this.#want(names),
      log,
    });
  }

  get keys(): AuthorityKeys {
    return this.#keys;
  }

  /** Names of credentials that are to be had anew. */
  get wants(): readonly string[] {
    return this.#wants;
  }

  /** From now on; requests under way keep what they began with. */
  obey(order: EgressOrder): void {
    this.#policy = new PolicyInForce(order).makeReady();
    this.names.renew();
    this.events.level = order.log;
    this.#wants = [];
    setImmediate(collectAll);
  }

  accept(stream: Duplex): Relayed {
    this.#door.accept(stream);
    return relayed(stream);
  }

  /** A connection to an address that stands for a host. */
  acceptAt(stream: Duplex, address: string, port: number): Relayed {
    this.#door.acceptFor(stream, (serverName) => this.names.hostAt(address, serverName), port);
    return relayed(stream);
  }

  /** A connection with questions about names. */
  resolve(stream: Duplex): Relayed {
    this.names.serve(stream);
    return relayed(stream);
  }

  #want(names: readonly string[]): void {
    const more = names.filter((name) => !this.#wants.includes(name));
    if (more.length === 0) return;
    this.#wants = [...this.#wants, ...more];
    this.#onWant();
  }
}

function relayed(stream: Duplex): Relayed {
  const over = new Promise<void>((done) => stream.once("close", done));
  return { over, destroy: () => stream.destroy() };
}
