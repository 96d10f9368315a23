import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Slots } from "../base/slots.ts";
import type { Events } from "../contracts/events.ts";
import type { Config } from "../model/config.ts";
import { tellProposal, type ToldEvent } from "./tell-proposal.ts";

const SECONDS = 10;
/** SECURITY: an agent that asks for much does not have the host start much (G-130) */
const AT_ONCE = 4;
const MOST_WAITING = 64;

interface HookOptions {
  readonly events: Pick<Events, "bounds" | "follow">;
  readonly config: () => Config;
  readonly log: Log;
}

/**
 * Does what `on_proposal` says at each proposal that comes, and when one is near because a run has nearly used up its budget. It follows the log of events like any other watcher: nobody waits for it, and what it cannot do is a line in
 * the daemon's log.
 */
export class ProposalHook {
  readonly #options: HookOptions;
  readonly #end = new AbortController();
  readonly #slots = new Slots(AT_ONCE);
  readonly #following: Promise<void>;
  readonly #telling = new Set<Promise<void>>();

  constructor(options: HookOptions) {
    this.#options = options;
    this.#following = this.#follow(options.events.bounds().newest);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#following;
    await Promise.all(this.#telling);
  }

  async #follow(since: number): Promise<void> {
    const { events, log } = this.#options;
    try {
      const kinds = new Set(["proposal.created", "budget.near"] as const);
      for await (const page of events.follow(since, { kinds }, this.#end.signal))
        for (const event of page.events)
          if (event.kind === "proposal.created" || event.kind === "budget.near") this.#take(event);
    } catch (error) {
      log.error("on_proposal hears of no proposal any more", { reason: messageOf(error) });
    }
  }

  #take(event: ToldEvent): void {
    const way = this.#way();
    if (way === undefined) return;
    const proposal = event.kind === "proposal.created" ? event.proposal_id : event.kind;
    if (this.#telling.size >= AT_ONCE + MOST_WAITING) {
      this.#options.log.warn("on_proposal is behind: it is not told of something", { proposal });
      return;
    }
    const telling: Promise<void> = this.#slots
      .during(() => tellProposal(way, event, AbortSignal.any([this.#end.signal, AbortSignal.timeout(SECONDS * 1000)])))
      .catch((error: unknown) => {
        this.#options.log.warn("on_proposal failed", { proposal, reason: messageOf(error) });
      })
      .finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }

  /** As the file is now. One that cannot be read is told to whoever calls next. */
  #way(): string | undefined {
    try {
      return this.#options.config().on_proposal;
    } catch (error) {
      this.#options.log.warn("on_proposal is not known", { reason: messageOf(error) });
      return undefined;
    }
  }
}
