import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/base/log.ts";
import type { Gates } from "../../src/contracts/gates.ts";
import type { Store } from "../../src/contracts/store.ts";
import { EventLog } from "../../src/events/event-log.ts";
import type { ClocheEvent } from "../../src/model/event.ts";
import type { Route } from "../../src/model/egress.ts";
import type { GateAnswer, GateAsk } from "../../src/model/gate-control.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Effect, Effects } from "../../src/supervise/effect.ts";
import { Proposals } from "../../src/supervise/proposals.ts";
import { Rules } from "../../src/supervise/rules.ts";

const log = createLog(() => undefined);

/** A queue of proposals over a real store and a real log of events, with a clock to set and a policy that is one word. */
export class ProposalQueue {
  now = 1_000_000;
  /** What the policy is, as far as the effects here know one. */
  world = "policy";
  /** Those that decide for whatever host is asked for. */
  routes: Route[] = [];
  /** Those of the bottle's file, where there is one. */
  bottleRoutes: Route[] | undefined;
  applied: string[] = [];
  answers: { workspaceId: string; answer: GateAnswer }[] = [];
  breaks: Error | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), "cloche-proposals-"));
  readonly #store: Store;
  readonly #events: EventLog;

  constructor() {
    const opened = openStore(join(this.#folder, "store.sqlite"));
    if (opened === "locked") throw new Error("locked");
    this.#store = opened;
    this.#events = new EventLog({ store: opened, clock: { now: () => this.now }, log });
  }

  [Symbol.dispose](): void {
    this.#events.close();
    this.#store.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** As the next daemon has it. */
  open(): { proposals: Proposals; rules: Rules } {
    const clock = { now: () => this.now };
    const shared = { store: this.#store, events: this.#events, clock, operator: "alice" };
    const rules = new Rules(shared);
    const gates = {
      listenToAsks: () => undefined,
      answer: (workspaceId: string, given: readonly GateAnswer[]) =>
        this.answers.push(...given.map((answer) => ({ workspaceId, answer }))),
    } as unknown as Gates;
    const subjectOf = (workspaceId: string) =>
      workspaceId.startsWith("ws-")
        ? { workspace_id: workspaceId, identity: `run-${workspaceId}`, agent_name: "demo", bottle_names: ["dev"] }
        : undefined;
    return { proposals: new Proposals({ ...shared, gates, log, rules, effects: this.#effects(), subjectOf }), rules };
  }

  ask(id: string, host: string, rest: Partial<GateAsk> = {}): GateAsk {
    return {
      ask_id: id.padEnd(12, "0"),
      kind: "egress-block",
      justification: "docs",
      proposed: { routes: [{ host }] },
      command: null,
      created_at: this.now,
      ...rest,
    };
  }

  async told(kinds: readonly string[]): Promise<ClocheEvent[]> {
    const all: ClocheEvent[] = [];
    for await (const page of this.#events.read(0, {})) all.push(...page.events);
    return all.filter(({ kind }) => kinds.includes(kind));
  }

  #effects(): Effects {
    const effect: Effect<never> = {
      // Of what is proposed, as routes are: what decides for its hosts.
      look: (_subject, proposed) => ({
        current: [this.world, proposed],
        after: [`${this.world}+`, proposed],
        routes: this.routes,
        bottleRoutes: this.bottleRoutes,
      }),
      holds: (_subject, proposed) => this.applied.some((one) => one.startsWith(JSON.stringify(proposed))),
      apply: async (_subject, proposed, scope, { check, settle }) => {
        check();
        if (this.breaks) throw this.breaks;
        await new Promise((done) => setImmediate(done));
        this.applied.push(`${JSON.stringify(proposed)} ${scope}`);
        settle(() => (this.world = `${this.world}+`));
      },
    };
    return {
      "egress-block": effect,
      "capability-block": effect,
      "dlp-allow": effect,
      "push-allow": effect,
    } as unknown as Effects;
  }
}
