import type { ClocheEvent, EventKind, EventOf, EventPage } from "../model/event.ts";
import type { Redactor } from "../policy/redactor.ts";

type Told<One extends ClocheEvent> = One extends ClocheEvent
  ? Omit<One, "sequence" | "time" | "truncated" | "identity"> & { identity?: string | null }
  : never;

/** An event as its source records it. The log adds the sequence and the time. */
export type NewEvent = Told<Exclude<ClocheEvent, { kind: "log.gap" }>>;

export interface EventFilter {
  readonly workspaceId?: string | undefined;
  readonly identity?: string | undefined;
  /** All when it is not given. */
  readonly kinds?: ReadonlySet<EventKind> | undefined;
}

/** Sequences of the first and the last event that are there; those before the first have been removed. */
export interface EventBounds {
  readonly oldest: number;
  /** One less than `oldest` when there is none. */
  readonly newest: number;
}

/** The log of what happened, which outlives what it tells of. */
export interface Events {
  /** Writes an event, as a part of the store's transaction when there is one. Watchers are told when it is committed. */
  record(event: NewEvent): void;
  /** From now on no event about that workspace holds one of these values. */
  conceal(workspaceId: string, redactor: Redactor): void;
  /** A value as an event about that workspace would tell it. */
  concealed<Value>(workspaceId: string, value: Value): Value;
  /** From now on every event about that workspace names the run that it was made for. */
  identify(workspaceId: string, identity: string): void;
  /** No event about that workspace will come any more. */
  forget(workspaceId: string): void;
  /** Events after the one that this gives are kept however old they are, within bounds: they are still to be audited. */
  keepUnaudited(audited: () => number): void;
  bounds(): EventBounds;
  /** The log after that sequence up to its present end, in pages. INVALID_ARGUMENT when there has never been such a sequence. */
  read(since: number, filter: EventFilter): AsyncIterable<EventPage>;
  /** The same, and then what comes, until the signal is aborted. */
  follow(since: number, filter: EventFilter, signal: AbortSignal): AsyncIterable<EventPage>;
  /** What happened in a workspace since it was made or last reset, oldest first, as far as the log reaches. */
  session<Kind extends EventKind>(workspaceId: string, kinds: readonly Kind[]): EventOf<Kind>[];
}
