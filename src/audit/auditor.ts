import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Events } from "../contracts/events.ts";
import { AuditBatch } from "./audit-batch.ts";
import { AuditLog } from "./audit-log.ts";
import { AUDITED_KINDS } from "./audited-event.ts";

interface AuditorOptions {
  readonly home: string;
  readonly events: Events;
  readonly log: Log;
  /** How long what comes often is gathered. */
  readonly gatherMs?: number;
  /** Before another try where it cannot be written; twice as long each time. */
  readonly retryMs?: number;
}

const GATHER_MS = 10_000;
const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Somebody who waits until an event is audited. */
interface Waiter {
  readonly through: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Writes the audit from the log of events. It has no state of its own: where it stands is in the audit, and what it has to tell is in the events, which are in
 * the store before anybody is answered. So a daemon that is killed anywhere leaves nothing out.
 */
export class Auditor {
  readonly #options: AuditorOptions;
  readonly #ended = new AbortController();
  readonly #waiting = new Set<Waiter>();
  #ring: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #audit: AuditLog | undefined;

  constructor(options: AuditorOptions) {
    this.#options = options;
    options.events.keepUnaudited(() => this.#audit?.through ?? 0);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when all that has happened up to now is in the audit. Throws why it cannot be written. */
  async caughtUp(): Promise<void> {
    const through = this.#options.events.bounds().newest;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add({ through, resolve, reject });
      this.#ring();
    });
  }

  /** What has happened up to now is written first, where it can be. */
  async close(): Promise<void> {
    if (!this.#running) return;
    await this.caughtUp().catch(() => undefined);
    this.#ended.abort();
    this.#ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { home, log, retryMs = RETRY_MS } = this.#options;
    let pause = retryMs;
    while (!this.#ended.signal.aborted) {
      try {
        this.#audit = await AuditLog.open(home);
        await this.#follow(this.#audit, () => (pause = retryMs));
      } catch (error) {
        // SECURITY: nothing that happens is taken for audited while it cannot be written; its events stay (G-111)
        if (pause === retryMs) log.error("the audit cannot be written", { error: messageOf(error) });
        for (const waiter of this.#waiting) waiter.reject(error);
        this.#waiting.clear();
        await this.#pause(pause);
        pause = Math.min(2 * pause, MAX_RETRY_MS);
      } finally {
        await this.#audit?.close();
        this.#audit = undefined;
      }
    }
  }

  async #follow(audit: AuditLog, onWritten: () => void): Promise<void> {
    const { events, gatherMs = GATHER_MS } = this.#options;
    await this.#beginAgain(audit);
    const reading = new AbortController();
    const pages = events.follow(audit.through, { kinds: AUDITED_KINDS }, reading.signal)[Symbol.asyncIterator]();
    let batch = new AuditBatch(audit.through);
    let gathering: NodeJS.Timeout | undefined;
    let isDue = false;
    const due = () => {
      isDue = true;
      this.#ring();
    };
    try {
      let next = pages.next();
      while (!this.#ended.signal.aborted) {
        const rung = new Promise<undefined>((resolve) => (this.#ring = () => resolve(undefined)));
        if (this.#isTime(batch, audit, isDue)) {
          clearTimeout(gathering);
          [gathering, isDue] = [undefined, false];
          await audit.append(batch.entries, batch.through);
          batch = new AuditBatch(batch.through);
          onWritten();
          this.#tell(batch.through);
          continue;
        }
        if (!batch.isEmpty) gathering ??= setTimeout(due, gatherMs).unref();
        const page = await Promise.race([next, rung]);
        if (page?.done === true) return;
        if (!page) continue;
        batch.add(page.value);
        next = pages.next();
      }
      if (batch.isEmpty) await audit.place(batch.through);
    } finally {
      clearTimeout(gathering);
      reading.abort();
    }
  }

  /** Whether what was gathered is to be written now. */
  #isTime(batch: AuditBatch, audit: AuditLog, isDue: boolean): boolean {
    if (batch.isFull) return true;
    // A page comes at once, and is written in the same go.
    if (batch.through < this.#options.events.bounds().newest) return false;
    const isAwaited = [...this.#waiting].some(({ through }) => through <= batch.through);
    return isAwaited || (batch.isEmpty ? audit.isFarBehind(batch.through) : batch.isUrgent || isDue);
  }

  #tell(through: number): void {
    for (const waiter of this.#waiting) {
      if (waiter.through > through) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  /** A store that was replaced has other events under the same numbers: all that it has is told. */
  async #beginAgain(audit: AuditLog): Promise<void> {
    const { newest } = this.#options.events.bounds();
    if (audit.through <= newest) return;
    const entry = {
      time: Date.now() / 1000,
      kind: "events.missing",
      identity: null,
      workspace_id: null,
      operator: null,
      events: { first: newest + 1, last: audit.through, count: 0 },
      details: { reason: "The log of events is another one than before", last_audited: audit.through, newest },
    } as const;
    await audit.append([entry], 0);
  }

  async #pause(milliseconds: number): Promise<void> {
    const rung = new Promise<void>((resolve) => (this.#ring = resolve));
    if (this.#ended.signal.aborted || this.#waiting.size > 0) return;
    const timer = setTimeout(this.#ring, milliseconds).unref();
    await rung;
    clearTimeout(timer);
  }
}
