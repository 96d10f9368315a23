import type { EgressOrder, GateCredential, GateRoute } from "../../model/egress-order.ts";
import { createDetector } from "../../policy/dlp/create-detector.ts";
import type { Detector, Scan, ScanMemory } from "../../policy/dlp/detector.ts";
import { type DetectorName, OUTBOUND_DETECTORS } from "../../policy/dlp/finding.ts";
import { gateRoute } from "../../policy/egress/gate-routes.ts";
import { EchoMask } from "../../policy/egress/echo-mask.ts";
import { echoedValues } from "../../policy/egress/echoed-values.ts";
import { type CompiledRoute, RouteTable } from "../../policy/egress/route-table.ts";

/** Hosts whose last requests are remembered, to find what was cut over several of them. */
const MAX_MEMORIES = 64;

/** A route with all that is made once for it. */
export interface RouteInForce extends CompiledRoute<GateRoute> {
  /** Undefined when nothing is looked for. */
  readonly outbound: Scan | undefined;
  readonly inbound: Scan | undefined;
  /** Whether an answer with markers of an injection ends there. */
  readonly blocksInjections: boolean;
  /** What it puts in, to be taken out of what comes back. */
  readonly echo: EchoMask;
  readonly missing: readonly GateCredential[];
  /** Names of all of them. */
  readonly credentials: readonly string[];
}

/** An order for an egress door, made ready to decide requests. */
export class PolicyInForce {
  readonly order: EgressOrder;
  readonly #table: RouteTable<GateRoute>;
  readonly #once: (host: string, port: number) => boolean;
  #made: { readonly detector: Detector; readonly everywhere: Scan } | undefined;
  readonly #ready = new Map<GateRoute, RouteInForce>();
  readonly #memories = new Map<string, ScanMemory>();
  /** The newest of them: nearly every request goes where the one before it went. */
  #newest: { readonly host: string; readonly memory: ScanMemory } | undefined;

  /** `once`: whether one request may go there that no route lists. */
  constructor(order: EgressOrder, once: (host: string, port: number) => boolean = () => false) {
    this.order = order;
    this.#once = once;
    this.#table = new RouteTable(order.routes);
  }

  /** Ahead of the first request. */
  makeReady(): this {
    this.#detectors();
    return this;
  }

  /** For what is told of a request, whatever its route looks for. */
  get everywhere(): Scan {
    return this.#detectors().everywhere;
  }

  find(host: string, port: number): RouteInForce | undefined {
    const found = this.#table.find(host, port);
    if (found) return this.#inForce(found);
    // It lists nothing: what passes is decided for each request.
    return this.#once(host, port)
      ? this.#makeReady({ route: bareRoute(host, port), refusal: () => "it is not listed" })
      : undefined;
  }

  /** Whether a host is listed, for whatever port. */
  names(host: string): boolean {
    return this.#table.names(host);
  }

  memory(host: string, scan: Scan): ScanMemory {
    if (this.#newest?.host === host) return this.#newest.memory;
    const memory = this.#memories.get(host) ?? scan.memory();
    this.#memories.delete(host);
    this.#memories.set(host, memory);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size > MAX_MEMORIES && oldest !== undefined) this.#memories.delete(oldest);
    this.#newest = { host, memory };
    return memory;
  }

  #inForce(compiled: CompiledRoute<GateRoute>): RouteInForce {
    const known = this.#ready.get(compiled.route);
    if (known) return known;
    const ready = this.#makeReady(compiled);
    this.#ready.set(compiled.route, ready);
    return ready;
  }

  #makeReady({ route, refusal }: CompiledRoute<GateRoute>): RouteInForce {
    const { dlp, pass, credentials } = route;
    return {
      route,
      refusal,
      outbound: this.#scan(dlp.outbound_detectors ?? undefined, OUTBOUND_DETECTORS, pass),
      inbound:
        dlp.inbound_detectors.length === 0 ? undefined : this.#detectors().detector.scope({ detectors: ["injection"] }),
      blocksInjections: dlp.inbound_detectors.includes("injection_block"),
      echo: new EchoMask(credentials.flatMap(echoedValues)),
      missing: credentials.filter(({ token }) => token === null),
      credentials: credentials.map(({ name }) => name),
    };
  }

  #scan(names: readonly string[] | undefined, all: readonly DetectorName[], pass: readonly string[]): Scan | undefined {
    if (names === undefined) return this.#detectors().detector.scope({ pass });
    const detectors = all.filter((name) => names.includes(name));
    return detectors.length === 0 ? undefined : this.#detectors().detector.scope({ detectors, pass });
  }

  #detectors(): { readonly detector: Detector; readonly everywhere: Scan } {
    if (this.#made) return this.#made;
    const known = this.order.guarded.map(({ kind, name, value }) => ({ detector: kind, name, value }));
    const detector = createDetector({ known });
    return (this.#made = { detector, everywhere: detector.scope() });
  }
}

/** As for a host that a bottle names and says nothing else of. */
const bareRoute = (host: string, port: number): GateRoute =>
  gateRoute(
    { host, ports: [port] },
    { ca: () => "", token: () => ({ token: null, problem: null }), onMatch: "supervise" },
  );
