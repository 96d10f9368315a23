import type { EgressLog } from "../../model/egress.ts";
import type { EgressEvent, GateEvent, PushEvent } from "../../model/gate-control.ts";

/** Kept while no daemon takes them; beyond that the oldest go, and their number is told. */
const MAX_KEPT = 2000;

/** What went through a gate, for the daemon's log. Kept until a daemon has heard of it. */
export class EgressEvents {
  #level: EgressLog = "all";
  readonly #kept: { number: number; event: GateEvent }[] = [];
  #last = 0;
  #lost = 0;
  readonly #onNew: () => void;

  constructor(onNew: () => void) {
    this.#onNew = onNew;
  }

  set level(level: EgressLog) {
    this.#level = level;
  }

  /** Whether anybody wants to hear of a request: most are told to nobody, and are not put into words. */
  isWanted(kind: EgressEvent["kind"], findings: readonly unknown[], usage: EgressEvent["model_usage"]): boolean {
    return usage !== null || this.#isLogged(kind, findings);
  }

  record(event: EgressEvent): void {
    const is_logged = this.#isLogged(event.kind, event.findings);
    if (!is_logged && event.model_usage === null) return;
    this.#keep({ ...event, is_logged });
  }

  /** What became of a push is told whatever is told of requests. */
  push(event: PushEvent): void {
    this.#keep(event);
  }

  #keep(event: GateEvent): void {
    this.#kept.push({ number: ++this.#last, event });
    if (this.#kept.length > MAX_KEPT) {
      this.#kept.shift();
      this.#lost++;
    }
    this.#onNew();
  }

  #isLogged(kind: EgressEvent["kind"], findings: readonly unknown[]): boolean {
    if (this.#level === "blocks") return kind === "egress.denied" || findings.length > 0;
    return this.#level === "all";
  }

  /** Those after that number, some at a time; undefined when there is none. */
  after(number: number, most: number): { events: GateEvent[]; through: number; lost: number } | undefined {
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
