import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { onAbort } from "../base/on-abort.ts";
import type { EventBounds, EventFilter, Events, NewEvent } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { EventKind, EventOf, EventPage } from "../model/event.ts";
import { redactValue } from "../policy/redact-value.ts";
import type { Redactor } from "../policy/redactor.ts";
import { shorten } from "./shorten.ts";

export interface Retention {
  readonly maxAgeSeconds: number;
  readonly maxBytes: number;
}

export const RETENTION: Retention = { maxAgeSeconds: 30 * 24 * 3600, maxBytes: 64 * 1024 * 1024 };

/** So many events are looked at or removed at a time, and then it is others' turn. */
const PAGE = 256;
/** After so many new ones it is looked whether there are too many. */
const PRUNE_EVERY = 128;
/** And that often whether some are too old. */
const PRUNE_SECONDS = 3600;

interface LogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention?: Retention;
}

/**
 * Writes events into the store and wakes those that follow them. A watcher is a place in the log and nothing else: woken, it reads on from the
 * store. So one that is slow costs no memory, and one that comes back later is no different from one that never left.
 */
export class EventLog implements Events {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #retention: Retention;
  readonly #redactors = new Map<string, Redactor>();
  readonly #identities = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #audited: () => number = () => Infinity;
  #waking = false;
  #pruning: NodeJS.Immediate | undefined;
  #unpruned = 0;

  constructor({ store, clock, log, retention = RETENTION }: LogOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#retention = retention;
    this.#timer = setInterval(() => this.#prune(), PRUNE_SECONDS * 1000).unref();
    this.#prune();
  }

  record({ kind, workspace_id, identity = this.#identityOf(workspace_id), ...told }: NewEvent): void {
    // SECURITY: no event holds a secret, and none is cut before what is to be redacted was whole (G-29)
    const redactor = workspace_id === null ? undefined : this.#redactors.get(workspace_id);
    const { payload, truncated } = shorten(redactor ? (redactValue(told, redactor) as object) : told);
    const head = { time: this.#clock.now(), kind, workspace_id, identity };
    this.#store.appendEvent({ ...payload, ...head, ...(truncated && { truncated }) });
    this.#wake();
    if (++this.#unpruned >= PRUNE_EVERY) this.#prune();
  }

  conceal(workspaceId: string, redactor: Redactor): void {
    if (redactor.isEmpty) this.#redactors.delete(workspaceId);
    else this.#redactors.set(workspaceId, redactor);
  }

  concealed<Value>(workspaceId: string, value: Value): Value {
    const redactor = this.#redactors.get(workspaceId);
    return redactor ? (redactValue(value, redactor) as Value) : value;
  }

  identify(workspaceId: string, identity: string): void {
    this.#identities.set(workspaceId, identity);
  }

  forget(workspaceId: string): void {
    this.#redactors.delete(workspaceId);
    this.#identities.delete(workspaceId);
  }

  keepUnaudited(audited: () => number): void {
    this.#audited = audited;
  }

  bounds(): EventBounds {
    return this.#store.eventBounds();
  }

  read(since: number, filter: EventFilter): AsyncGenerator<EventPage, void> {
    return this.#read(this.#known(since), filter);
  }

  follow(since: number, filter: EventFilter, signal: AbortSignal): AsyncGenerator<EventPage, void> {
    return this.#follow(this.#known(since), filter, signal);
  }

  async *#read(since: number, filter: EventFilter): AsyncGenerator<EventPage, void> {
    const { newest } = this.bounds();
    let at = since;
    while (at < newest) {
      const page = this.#page(at, filter);
      // What came after the question is not a part of its answer.
      yield {
        events: page.events.filter(({ sequence }) => sequence <= newest),
        through: Math.min(page.through, newest),
      };
      at = page.through;
      await othersTurn();
    }
  }

  async *#follow(since: number, filter: EventFilter, signal: AbortSignal): AsyncGenerator<EventPage, void> {
    let at = since;
    while (!signal.aborted) {
      const page = this.#page(at, filter);
      if (page.through === at) await this.#more(signal);
      else {
        yield page;
        at = page.through;
        if (page.through < this.bounds().newest) await othersTurn();
      }
    }
  }

  session<Kind extends EventKind>(workspaceId: string, kinds: readonly Kind[]): EventOf<Kind>[] {
    return this.#store.listSessionEvents(workspaceId, kinds);
  }

  /** Those that follow stay where they are, and hear nothing more. */
  close(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#pruning);
  }

  #identityOf(workspaceId: string | null): string | null {
    return workspaceId === null ? null : (this.#identities.get(workspaceId) ?? null);
  }

  /** A watcher of another home, or of a store that was replaced, would wait in silence for a sequence that means something else. */
  #known(since: number): number {
    const { newest } = this.bounds();
    if (since <= newest) return since;
    throw failure("INVALID_ARGUMENT", `There is no event ${since} yet: the newest is ${newest}`, {
      hint: `Ask for what comes after an event that there was, ${newest} at most`,
    });
  }

  /** The next page. What was removed before it could be read is told as a gap. */
  #page(since: number, filter: EventFilter): EventPage {
    const { oldest } = this.bounds();
    if (since + 1 >= oldest) return this.#store.readEvents(since, filter, PAGE);
    const gap: EventOf<"log.gap"> = {
      sequence: oldest - 1,
      time: this.#clock.now(),
      kind: "log.gap",
      workspace_id: null,
      identity: null,
      first_missing: since + 1,
      last_missing: oldest - 1,
    };
    return { events: [gap], through: oldest - 1 };
  }

  /** Resolves when an event was written, or nobody waits any more. */
  async #more(signal: AbortSignal): Promise<void> {
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.add(wake);
    const stopListening = onAbort(signal, wake);
    await woken;
    stopListening();
    this.#waiting.delete(wake);
  }

  /** Once for all that happens in this turn, and after the transaction that it may be a part of: what was rolled back wakes nobody to anything. */
  #wake(): void {
    if (this.#waking || this.#waiting.size === 0) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      for (const wake of [...this.#waiting]) wake();
    });
  }

  /** Later, a little at a time, so that no caller that records an event waits for it. */
  #prune(): void {
    this.#unpruned = 0;
    this.#pruning ??= setImmediate(() => {
      this.#pruning = undefined;
      const { maxAgeSeconds, maxBytes } = this.#retention;
      try {
        const keep = { sinceTime: this.#clock.now() - maxAgeSeconds, maxBytes, keepAfter: this.#audited() };
        const dropped = this.#store.dropEvents(keep, PAGE);
        if (dropped > 0) this.#prune();
      } catch (error) {
        // A full disk: tried again after the next events.
        this.#log.warn("cannot remove old events", { error: String(error) });
      }
    });
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
