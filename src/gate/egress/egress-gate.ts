import type { Duplex } from "node:stream";
import type { Log } from "../../base/log.ts";
import type { EgressOrder } from "../../model/egress-order.ts";
import { Authority, type AuthorityKeys, newAuthority } from "../tls/authority.ts";
import type { Relayed } from "../relay-connection.ts";
import type { Grants } from "../supervise/grants.ts";
import { type HeldRequests, NO_ONE } from "../supervise/held-requests.ts";
import { giveBackSoon } from "./collector.ts";
import type { EgressContext, ServeGit } from "./egress-context.ts";
import { EgressEvents } from "./egress-events.ts";
import { Names } from "./names.ts";
import { PATIENCE, type Patience } from "./patience.ts";
import { PolicyInForce } from "./policy-in-force.ts";
import { ProxyDoor } from "./proxy-door.ts";
import { Upstreams } from "./upstreams.ts";

const SUBJECT = "cloche egress gate";
/** SECURITY: before it is told anything, a gate lets out nothing (G-35) */
const NOTHING: EgressOrder = { log: "all", routes: [], guarded: [], way_out: { proxy: null, ca: null } };

/** Routes for one request each. */
export type OnceRoutes = Pick<Grants, "covers" | "takeRoute">;

/** What stands behind egress doors. */
export class EgressGate {
  readonly events: EgressEvents;
  readonly names: Names;
  readonly #door: ProxyDoor;
  readonly #onWant: () => void;
  /** Set by whoever knows the repositories of the bottle. */
  gitDoors: EgressContext["gitDoors"] = () => undefined;
  serveGit: ServeGit = () => false;
  /** Set by whoever can ask the operator. */
  held: HeldRequests = NO_ONE;
  once: OnceRoutes = { covers: () => false, takeRoute: () => false };
  budget: EgressContext["budget"] = {
    isUsedUp: false,
    decide: () => Promise.resolve(undefined),
    begin: () => undefined,
    giveBack: () => undefined,
    count: () => undefined,
  };
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
    const budget = () => this.budget;
    this.names = new Names({ policy: () => this.#policy, events: this.events });
    this.#door = new ProxyDoor({
      policy: () => this.#policy,
      authority: () => this.#authority,
      upstreams: new Upstreams(patience),
      patience,
      events: this.events,
      gitDoors: (host) => this.gitDoors(host),
      serveGit: (at, target, request, response) => this.serveGit(at, target, request, response),
      held: { decide: (request, gone) => this.held.decide(request, gone) },
      takeOnce: (place, request) => this.once.takeRoute(place, request),
      want: (names) => this.#want(names),
      budget: {
        get isUsedUp() {
          return budget().isUsedUp;
        },
        decide: (gone) => budget().decide(gone),
        begin: () => budget().begin(),
        giveBack: () => budget().giveBack(),
        count: (...told) => budget().count(...told),
      },
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

  /** Makes ahead what every order takes. */
  makeReady(): void {
    this.#policy.makeReady();
    giveBackSoon();
  }

  /** From now on; requests under way keep what they began with. */
  obey(order: EgressOrder): void {
    this.#policy = new PolicyInForce(order, (host, port) => this.once.covers(host, port)).makeReady();
    this.names.renew();
    this.events.level = order.log;
    this.#wants = [];
    giveBackSoon();
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
