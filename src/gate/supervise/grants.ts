import { type RequestFacts, type RouteRules, RouteTable } from "../../policy/egress/route-table.ts";
import { GRANT_SECONDS, type ProposalKind } from "../../model/proposal-kinds.ts";

/** What an approval lets pass, by what it is known by. */
export interface Grant {
  readonly kind: ProposalKind;
  /** The digest of what was held, or what all that is like it has in common. */
  readonly key: string;
  readonly proposal_id: string;
  /** Of one that passes once; null for one that holds as long as the run does. */
  readonly valid_until: number | null;
  /** Of routes that let out one request. */
  readonly routes?: readonly RouteRules[];
}

interface Held extends Grant {
  /** By a clock that nobody sets. */
  readonly deadline: number;
}

const MAX_GRANTS = 256;

/** What the operator has let pass and has not passed yet. A killed gate has it again. */
export class Grants {
  #held: Held[] = [];
  readonly #onChange: () => void;
  readonly #now: () => number;
  readonly #monotonic: () => number;

  constructor(
    onChange: () => void,
    {
      now = () => Date.now() / 1000,
      monotonic = () => performance.now() / 1000,
    }: Partial<Record<"now" | "monotonic", () => number>> = {},
  ) {
    this.#onChange = onChange;
    this.#now = now;
    this.#monotonic = monotonic;
  }

  add(grant: Grant): void {
    if (grant.valid_until === null && this.#held.some((one) => one.key === grant.key && one.valid_until === null))
      return;
    this.#keep(grant);
    this.#onChange();
  }

  /** Whether something of that kind may pass now. One that is for once is used up, before anything passes. */
  take(kind: ProposalKind, keys: readonly string[]): Grant | undefined {
    this.#drop();
    return this.#use(this.#held.find((one) => one.kind === kind && keys.includes(one.key)));
  }

  /** Whether a route lets one request out to there, whichever. */
  covers(host: string, port: number): boolean {
    this.#drop();
    return this.#held.some(({ routes }) => routes && new RouteTable(routes).find(host, port) !== undefined);
  }

  /** Whether it lets out this one, which uses it up. */
  takeRoute({ host, port }: { readonly host: string; readonly port: number }, request: RequestFacts): boolean {
    this.#drop();
    const fits = ({ routes }: Held) => {
      const route = routes && new RouteTable(routes).find(host, port);
      return route !== undefined && route.refusal(request) === undefined;
    };
    return this.#use(this.#held.find(fits)) !== undefined;
  }

  /** SECURITY: an approval is used once, also by a gate that is killed right after (G-99) */
  #use(found: Held | undefined): Grant | undefined {
    if (!found || found.valid_until === null) return found;
    this.#held = this.#held.filter((one) => one !== found);
    this.#onChange();
    return found;
  }

  get kept(): Grant[] {
    return this.#held.map(({ kind, key, proposal_id, valid_until, routes }) => ({
      kind,
      key,
      proposal_id,
      valid_until,
      ...(routes && { routes }),
    }));
  }

  restore(kept: readonly Grant[]): void {
    for (const grant of kept) this.#keep(grant);
  }

  #keep(grant: Grant): void {
    const left = grant.valid_until === null ? Infinity : grant.valid_until - this.#now();
    // SECURITY: a clock that was set back makes no approval last longer (G-99)
    this.#held.push({
      ...grant,
      deadline: this.#monotonic() + Math.min(left, left === Infinity ? left : GRANT_SECONDS),
    });
    this.#held = this.#held.slice(-MAX_GRANTS);
  }

  #drop(): void {
    const [now, monotonic] = [this.#now(), this.#monotonic()];
    this.#held = this.#held.filter(
      ({ valid_until, deadline }) => monotonic < deadline && (valid_until === null || now < valid_until),
    );
  }
}
