import type { Clock } from "../base/clock.ts";
import type { Store } from "../contracts/store.ts";
import type { WorkspaceEvent } from "../model/summary.ts";
import { redactValue, type Secrets } from "./secrets.ts";

/** An event without the time at which it is recorded. */
export type NewEvent = WorkspaceEvent extends infer Event
  ? Event extends WorkspaceEvent
    ? Omit<Event, "at">
    : never
  : never;

/** What was done to a workspace, with the values that must not be in it. */
export interface EventSubject {
  readonly workspaceId: string;
  readonly secrets?: Secrets | undefined;
}

/** What happened to workspaces beside their commands. Every verb writes it here and nowhere else; summaries read it. */
export class EventLog {
  readonly #store: Pick<Store, "insertEvent" | "listEvents">;
  readonly #clock: Clock;

  constructor(store: Pick<Store, "insertEvent" | "listEvents">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A path may have a secret in it, and the store has none. */
  record({ workspaceId, secrets }: EventSubject, event: NewEvent): void {
    const stamped = { ...event, at: this.#clock.now() };
    this.#store.insertEvent(
      workspaceId,
      (secrets ? redactValue(stamped, secrets.redactor) : stamped) as WorkspaceEvent,
    );
  }

  list(workspaceId: string): WorkspaceEvent[] {
    return this.#store.listEvents(workspaceId);
  }
}
