import { setTimeout as wait } from "node:timers/promises";
import { isClocheError, messageOf } from "../base/errors.ts";
import type { Key } from "./key.ts";
import { WATCHED_KINDS } from "./on-event.ts";
import type { OperatorClient } from "./operator-client.ts";
import { reduce } from "./reduce.ts";
import type { Store } from "./screen.tsx";
import { type Effect, type Input, type Notice, type State } from "./state.ts";

/** What an effect does outside of the daemon. */
export interface Outside {
  /** Opens what is proposed in the operator's editor, and gives what came of it. */
  edit(effect: Extract<Effect, { type: "edit" }>): Promise<Input>;
  /** The operator sits at a run until they leave it, or it ends. */
  attach(identity: string): Promise<void>;
  quit(): void;
}

/** After a watch that failed, until the next is tried. */
const RETRY_MS = 1000;
/** Answers whose meaning is in the proposal as it is now. */
const LOOK_AGAIN = ["PROPOSAL_CHANGED", "PROPOSAL_DECIDED", "PROPOSAL_NOT_FOUND"];

/** Keeps the state, does what it asks for, and hears the daemon. Nothing is asked twice that the daemon tells by itself. */
export class Operator implements Store {
  readonly #client: OperatorClient;
  readonly #outside: Outside;
  readonly #listeners = new Set<() => void>();
  #state: State;

  constructor(client: OperatorClient, outside: Outside, beginning: State) {
    this.#client = client;
    this.#outside = outside;
    this.#state = beginning;
  }

  readonly state = (): State => this.#state;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  };

  readonly press = (key: Key): void => this.send({ type: "key", key });

  send(input: Input): void {
    const { state, effects } = reduce(this.#state, input);
    this.#state = state;
    for (const listener of [...this.#listeners]) listener();
    for (const effect of effects) this.#do(effect);
  }

  /** Hears what happens until the signal. Never rejects: what cannot be heard is told on the screen, and tried again. */
  async follow(signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        const onConnection = (isConnected: boolean) => this.send({ type: "connection", isConnected });
        const watch = this.#client.watch({ kinds: [...WATCHED_KINDS], signal, onConnection });
        // What happens after that is told; so what there was before is asked for now.
        await watch.ready;
        this.send({ type: "connection", isConnected: true });
        await this.#list();
        for await (const event of watch) this.send({ type: "event", event });
      } catch (error) {
        if (isOver()) return;
        this.send({ type: "connection", isConnected: false });
        this.#tell("warning", words(error));
      }
      await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Never rejects. */
  #do(effect: Effect): void {
    this.#perform(effect).catch((error: unknown) => {
      if (effect.type === "load-draft") this.#tell("warning", words(error));
      else if (effect.type === "approve" || effect.type === "reject" || effect.type === "load") {
        const look = effect.type !== "load" && isClocheError(error) && LOOK_AGAIN.includes(error.code);
        this.send({ type: "refused", proposalId: effect.proposalId, text: words(error), look });
      } else this.#tell("warning", words(error));
    });
  }

  async #perform(effect: Effect): Promise<void> {
    switch (effect.type) {
      case "load":
        this.send({ type: "detail", detail: await this.#client.showApproval(effect.proposalId) });
        return;
      case "load-draft": {
        const { proposalId, proposed } = effect;
        this.send({ type: "draft-shown", proposed, detail: await this.#client.showApproval(proposalId, { proposed }) });
        return;
      }
      case "approve": {
        const { proposalId, scope, reason, draft, currentHash } = effect;
        const proposal = await this.#client.approveProposal(proposalId, {
          scope,
          current_hash: currentHash,
          ...(reason !== null && { reason }),
          ...(draft !== null && { proposed: draft.proposed }),
        });
        this.send({ type: "answered", proposal });
        return;
      }
      case "reject": {
        const proposal = await this.#client.rejectProposal(effect.proposalId, effect.reason);
        this.send({ type: "answered", proposal });
        return;
      }
      case "edit":
        this.send(await this.#outside.edit(effect));
        return;
      case "attach":
        await this.#outside.attach(effect.identity);
        return;
      case "stop":
        await this.#client.stopRun(effect.identity);
        this.#tell("plain", `${effect.identity} has ended; \`cloche resume ${effect.identity}\` takes it up`);
        return;
      case "list":
        await this.#list();
        return;
      case "list-runs":
        this.send({ type: "runs", runs: (await this.#client.listRuns()).runs });
        return;
      case "quit":
        this.#outside.quit();
        return;
    }
  }

  async #list(): Promise<void> {
    const [{ proposals }, { runs }] = await Promise.all([this.#client.listApprovals(), this.#client.listRuns()]);
    this.send({ type: "listed", proposals, runs });
  }

  #tell(tone: Notice["tone"], text: string): void {
    this.send({ type: "notice", notice: { tone, text } });
  }
}

const words = (error: unknown): string =>
  isClocheError(error) ? `${error.message} (${error.hint})` : messageOf(error);
