import { setTimeout as pause } from "node:timers/promises";
import { errnoOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Events } from "../contracts/events.ts";
import type { ClocheEvent, EventPage } from "../model/event.ts";
import { otlpMessage } from "./otlp-records.ts";
import type { OtlpTarget } from "./otlp-target.ts";

interface ExporterOptions {
  readonly target: OtlpTarget;
  readonly events: Events;
  readonly log: Log;
  readonly version: string;
  /** Before the second try; twice as long before each next one. */
  readonly retryMs?: number;
}

/** A collector that is further behind is left behind: what it missed is counted. */
const MAX_BEHIND = 10_000;
const TRIES = 4;
const RETRY_MS = 1000;
/** What a collector asks to be asked again for. */
const LATER = new Set([429, 502, 503, 504]);
/** How long a daemon that ends waits for the last of it. */
const LAST_MS = 1000;

/** In words that may be told. */
class Refused extends Error {}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return errnoOf(cause) ?? (cause instanceof Error ? cause.name : "unknown");
}

/**
 * Sends events to a collector as they happen. It is a place in the log and one message at a time, so a collector that is slow or gone costs no memory, and nothing
 * waits for it. What it misses is told to it, and in the daemon's log.
 */
export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #ended = new AbortController();
  #sent = 0;
  #lost = 0;
  #isFailing = false;
  #running: Promise<void> | undefined;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#sent = this.#options.events.bounds().newest;
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    if (!this.#running) return;
    const until = Date.now() + LAST_MS;
    while (this.#sent < this.#options.events.bounds().newest && !this.#isFailing && Date.now() < until) await pause(10);
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { events } = this.#options;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      for await (const page of events.follow(this.#sent, {}, signal)) {
        await this.#take(page);
        if (this.#leaveBehind()) break;
      }
    }
  }

  async #take({ events, through }: EventPage): Promise<void> {
    const { log, target } = this.#options;
    try {
      if (events.length > 0) await this.#send(events);
      if (this.#isFailing) log.info("the collector takes events again", { lost: this.#lost });
      [this.#isFailing, this.#lost] = [false, 0];
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.#lost += events.length;
      // SECURITY: its address may hold a password, and its headers a token (G-114)
      if (!this.#isFailing)
        log.warn("a collector does not take events", {
          host: new URL(target.url).host,
          error: error instanceof Refused ? error.message : reasonOf(error),
        });
      this.#isFailing = true;
    }
    this.#sent = through;
  }

  /** Whether there is too much that it has not had. */
  #leaveBehind(): boolean {
    const { newest } = this.#options.events.bounds();
    if (newest - this.#sent <= MAX_BEHIND) return false;
    this.#lost += newest - this.#sent;
    this.#sent = newest;
    this.#options.log.warn("a collector is too slow, and misses events", { lost: this.#lost });
    return true;
  }

  async #send(events: readonly ClocheEvent[]): Promise<void> {
    const { target, version, retryMs = RETRY_MS } = this.#options;
    const lost = this.#lost > 0 ? { "cloche.lost_events": String(this.#lost) } : {};
    const body = otlpMessage(events, { "service.name": target.serviceName, "service.version": version, ...lost });
    for (let tries = 1; ; tries++) {
      const problem = await this.#post(body);
      if (problem === undefined) return;
      // While it fails, each message gets one try: the next ones wait for it.
      if (!problem.isPassing || tries >= TRIES || this.#isFailing) throw new Refused(problem.reason);
      await pause(retryMs * 2 ** (tries - 1), undefined, { signal: this.#ended.signal, ref: false });
    }
  }

  async #post(body: string): Promise<{ reason: string; isPassing: boolean } | undefined> {
    const { url, headers, timeoutMs } = this.#options.target;
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal,
        // SECURITY: events go to the collector that was named, and to no other (G-114)
        redirect: "error",
      });
      await answer.body?.cancel();
      return answer.ok ? undefined : { reason: `status ${answer.status}`, isPassing: LATER.has(answer.status) };
    } catch (error) {
      // SECURITY: words of an error may quote the address or a header; its code and its kind do not (G-114)
      return { reason: reasonOf(error), isPassing: true };
    }
  }
}
