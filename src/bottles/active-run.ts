import type { AgentSession, RunEnd, RunMetadata } from "../model/run.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";

/** How long whoever started a run, or lost it with an earlier daemon, may take to attach: until then nothing of it is removed. */
const CLIENT_MS = 6000;

/** A run whose agent works: the sandbox that it works in, and who watches. */
export class ActiveRun {
  metadata: RunMetadata;
  readonly live: LiveWorkspace;
  readonly session: AgentSession;
  /** Resolves when all that had to be done at its end is done; never rejects. */
  readonly ended: Promise<RunEnd>;
  #end!: (end: RunEnd) => void;
  #watchers = 0;
  #isAwaited = true;
  readonly #waiting = new Set<() => void>();

  constructor(metadata: RunMetadata, live: LiveWorkspace, session: AgentSession) {
    this.metadata = metadata;
    this.live = live;
    this.session = session;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    setTimeout(() => this.expectNobody(), CLIENT_MS).unref();
  }

  /** As long as the work goes on, somebody watches. */
  async watched<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#watchers++;
    this.#isAwaited = false;
    try {
      return await work();
    } finally {
      this.#watchers--;
      this.#changed();
    }
  }

  /** Nobody is about to attach any more. */
  expectNobody(): void {
    this.#isAwaited = false;
    this.#changed();
  }

  /** Resolves when nobody watches, and nobody is about to. */
  async unwatched(): Promise<void> {
    while (this.#watchers > 0 || this.#isAwaited) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  finish(end: RunEnd): void {
    this.#end(end);
  }

  #changed(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
