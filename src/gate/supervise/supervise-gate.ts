import type { GateAnswer } from "../../model/gate-control.ts";
import type { ProposalKind, Proposed } from "../../model/proposal.ts";
import { grantKey } from "../../policy/supervise/grant-keys.ts";
import { type Asked, type AskAnswer, Asks, type KeptAsk } from "./asks.ts";
import { type Grant, Grants } from "./grants.ts";

/** What the next gate goes on with. */
export interface KeptSupervise {
  readonly asks: readonly KeptAsk[];
  readonly grants: readonly Grant[];
}

/** What a gate has of supervise: what was asked for and has no answer yet, and what was let pass and has not passed yet. */
export class SuperviseGate {
  readonly asks: Asks;
  readonly grants: Grants;

  constructor(told: { onNew: () => void; onChange: () => void }) {
    this.asks = new Asks(told);
    this.grants = new Grants(told.onChange);
  }

  /** What the daemon says became of what was asked for. What it lets pass may pass before whoever waits for it is told. */
  hear(answers: readonly GateAnswer[]): void {
    for (const { ask, answer } of this.asks.hear(answers)) {
      if (answer.status !== "approved" && answer.status !== "modified") continue;
      const { kind } = ask;
      const { proposal_id, valid_until, scope } = answer;
      const proposed = answer.proposed ?? ask.proposed;
      const key = grantKey(kind, proposed, scope);
      if (key === null) continue;
      const routes = kind === "egress-block" && { routes: (proposed as Proposed<"egress-block">).routes };
      this.grants.add({ kind, key, proposal_id, valid_until, ...routes });
    }
    this.asks.wake();
  }

  /** Whether the operator has let it pass, which uses that up: what comes next, and is the same, is asked for anew. */
  letPass(kind: ProposalKind, keys: readonly string[]): boolean {
    const grant = this.grants.take(kind, keys);
    if (grant) this.asks.drop(grant.proposal_id);
    return grant !== undefined;
  }

  /** Asks, and waits for so long. Throws `AskRefused`. */
  async ask(asked: Asked, ms: number, signal?: AbortSignal): Promise<AskAnswer> {
    return await this.asks.wait(this.asks.raise(asked), ms, signal);
  }

  get kept(): KeptSupervise {
    return { asks: this.asks.kept, grants: this.grants.kept };
  }

  restore({ asks, grants }: KeptSupervise): void {
    this.asks.restore(asks);
    this.grants.restore(grants);
  }
}
