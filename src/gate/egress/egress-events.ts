import type { BudgetState } from "../../model/budget.ts";
import type { EgressLog } from "../../model/egress.ts";
import type { AgentEvent, EgressEvent, GateEvent, PushEvent } from "../../model/gate-control.ts";
import type { ModelUsage } from "../../model/model-usage.ts";
import { CredentialUses } from "./credential-uses.ts";
import { DroppedUses } from "./dropped-uses.ts";

/** Kept while no daemon takes them; beyond that the oldest go, and their number is told. */
const MAX_KEPT = 2000;

/** What decides whether a request is told. */
type Wanted = Pick<EgressEvent, "kind" | "findings" | "model_usage">;

/** What went through a gate, for the daemon's log. Kept until a daemon has heard of it. */
export class EgressEvents {
  #level: EgressLog = "all";
  readonly #kept: { number: number; event: GateEvent }[] = [];
  #last = 0;
  #lost = 0;
  readonly #onNew: () => void;
  readonly #dropped = new DroppedUses();
  readonly #uses = new CredentialUses((event) => this.#keep(event));

  constructor(onNew: () => void) {
    this.#onNew = onNew;
  }

  /** What models' answers took, as it is told. `isCounted`: the budget knows of the request already. */
  onUsage: (usage: ModelUsage, isCounted: boolean) => void = () => undefined;

  /** Each request that no route lets out, also where the policy's log leaves it out. */
  onRefused: (refused: { method: string; host: string; port: number; path: string }) => void = () => undefined;

  set level(level: EgressLog) {
    this.#level = level;
  }

  /** Whether a request is told by itself: most are not, and are not put into words. */
  isWanted({ kind, findings, model_usage: usage }: Wanted): boolean {
    return usage !== null || this.#isLogged(kind, findings);
  }

  /** SECURITY: that a credential was used is told whatever the policy's log leaves out (G-113) */
  used(credentials: readonly string[], host: string, port: number): void {
    if (credentials.length > 0) this.#uses.add(credentials, host, port);
  }

  /** What is only counted so far is told now. */
  tellAll(): void {
    this.#uses.tellAll();
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0 && this.#dropped.isEmpty;
  }

  record(event: EgressEvent, isCounted = false): void {
    if (event.model_usage) this.onUsage(event.model_usage, isCounted);
    if (this.isWanted(event)) this.#keep({ ...event, is_logged: this.#isLogged(event.kind, event.findings) });
  }

  /** What became of a push, and what an agent says, is told whatever is told of requests. */
  push(event: PushEvent | AgentEvent): void {
    this.#keep(event);
  }

  /** So is what a run has nearly used up. */
  near(state: BudgetState): void {
    this.#keep({ kind: "budget.near", ...state });
  }

  #keep(event: GateEvent): void {
    this.#kept.push({ number: ++this.#last, event });
    while (this.#kept.length > MAX_KEPT) {
      const gone = this.#kept.shift();
      if (gone) this.#dropped.add(gone.event);
      // Of a use alone nothing is lost: it is counted on.
      if (gone?.event.kind !== "credential.used") this.#lost++;
    }
    this.#onNew();
  }

  #isLogged(kind: EgressEvent["kind"], findings: readonly unknown[]): boolean {
    if (this.#level === "blocks") return kind === "egress.denied" || findings.length > 0;
    return this.#level === "all";
  }

  /** Those after that number, some at a time; undefined when there is none. */
  after(number: number, most: number): { events: GateEvent[]; through: number; lost: number } | undefined {
    for (const event of this.#dropped.take()) this.#kept.push({ number: ++this.#last, event });
    const next = this.#kept.filter((one) => one.number > number).slice(0, most);
    const last = next.at(-1);
    return last && { events: next.map(({ event }) => event), through: last.number, lost: this.#lost };
  }

  /** A daemon has them in its log. */
  heard(through: number): void {
    const count = this.#kept.findIndex(({ number }) => number > through);
    this.#kept.splice(0, count < 0 ? this.#kept.length : count);
    this.#lost = 0;
  }
}
