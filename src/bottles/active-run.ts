import type { OperationInput } from "../model/operations.ts";
import type { AgentSession, RunEnd, RunMetadata } from "../model/run.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";

/** How long whoever started a run, or lost it with an earlier daemon, may take to attach: until then nothing of it is removed. */
const CLIENT_MS = 6000;
const ESCAPE = 0x1b;
const ENTER = 0x0d;

/** A run whose agent works: the sandbox that it works in, and who watches. */
export class ActiveRun {
  metadata: RunMetadata;
  readonly live: LiveWorkspace;
  readonly session: AgentSession;
  /** Why it ends, where its exit code does not say. */
  reason: string | null = null;
  /** What it was started from, where that was no file. */
  readonly manifest: OperationInput<"planResume">["manifest"];
  /** Resolves when all that had to be done at its end is done; never rejects. */
  readonly ended: Promise<RunEnd>;
  /** Resolves when it has moved to another sandbox, or could not; undefined unless it moves. Its agent ends meanwhile, and that is no end of the run. */
  moved: Promise<void> | undefined;
  /** Whether somebody has typed something at its terminal, and no Enter after it. */
  isHalfTyped = false;
  #end!: (end: RunEnd) => void;
  #watchers = 0;
  #isAwaited = true;
  readonly #waiting = new Set<() => void>();

  constructor(metadata: RunMetadata, live: LiveWorkspace, session: AgentSession, manifest?: ActiveRun["manifest"]) {
    this.manifest = manifest;
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

  /** What somebody types. Answers of their terminal and keys without a text begin with an escape. */
  typed(data: Buffer): void {
    if (data.length > 0 && data[0] !== ESCAPE) this.isHalfTyped = data.at(-1) !== ENTER;
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
