import type { Events, NewEvent } from "../../src/contracts/events.ts";

/** Keeps what is told, for tests of who tells it. Anything else that is called on it is a TypeError. */
class Told implements Pick<Events, "record"> {
  readonly told: NewEvent[] = [];

  record(event: NewEvent): void {
    this.told.push(event);
  }
}

export type ToldEvents = Told & Events;
export const ToldEvents = Told as unknown as new () => ToldEvents;
