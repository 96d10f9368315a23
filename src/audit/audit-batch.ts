import type { ClocheEvent, EventPage } from "../model/event.ts";
import type { NewAuditEntry } from "./audit-log.ts";
import { auditedEvent } from "./audited-event.ts";

/** So many different ones of what a sandbox can cause at will are told apart; the rest are counted. */
const MAX_TOLD_APART = 64;
/** So many events are gathered at most before they are written. */
const FULL = 2048;

/** Entries that are written together: one write and one wait for the disk, however many events there were. */
export class AuditBatch {
  readonly #entries = new Map<string, NewAuditEntry>();
  #apart = 0;
  #events = 0;
  #through: number;
  #isUrgent = false;

  constructor(through: number) {
    this.#through = through;
  }

  add({ events, through }: EventPage): void {
    for (const event of events) this.#add(event);
    this.#through = through;
  }

  /** How far the events were read. */
  get through(): number {
    return this.#through;
  }

  get entries(): readonly NewAuditEntry[] {
    return [...this.#entries.values()];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Whether something is in it that is to be written now. */
  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  get isFull(): boolean {
    return this.#events >= FULL;
  }

  #add(event: ClocheEvent): void {
    this.#events++;
    for (const { entry, key } of auditedEvent(event)) {
      if (key !== null) this.#merge(entry, key);
      else {
        this.#isUrgent = true;
        this.#entries.set(String(event.sequence), entry);
      }
    }
  }

  /** SECURITY: a sandbox that has its gate refuse without end does not fill the host's disk with it (G-112). */
  #merge(entry: NewAuditEntry, key: string): void {
    const same = this.#entries.get(key);
    if (same) this.#entries.set(key, together(same, entry));
    else if (this.#apart < MAX_TOLD_APART) {
      this.#apart++;
      this.#entries.set(key, entry);
    } else {
      const rest = JSON.stringify([entry.kind, entry.workspace_id, entry.identity]);
      const others = this.#entries.get(rest) ?? { ...entry, events: { ...entry.events, count: 0 } };
      this.#entries.set(rest, together({ ...others, details: { and_others: true } }, entry));
    }
  }
}

const together = (one: NewAuditEntry, next: NewAuditEntry): NewAuditEntry => ({
  ...one,
  events: { first: one.events.first, last: next.events.last, count: one.events.count + 1 },
});
