import type { Clock } from "../base/clock.ts";
import { isClocheError } from "../base/errors.ts";
import { jsonBytes } from "../base/json-bytes.ts";
import type { Log } from "../base/log.ts";
import type { Events } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import type { JournalEntry } from "../model/exec.ts";

export interface JournalOptions {
  readonly store: Store;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is written a moment later. */
interface Pending {
  readonly workspaceId: string;
  readonly sequence: number;
  readonly write: () => void;
  /** When it is in the store. */
  readonly written?: () => void;
}

/** How much later than it happens the start of a command may be told. */
const START_MS = 2;

/** What is told of a journal at once, as it is emitted. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

const withoutOutput = (entry: JournalEntry): JournalEntry => ({
  ...entry,
  stdout: "",
  stderr: "",
  stdout_truncated: entry.stdout_truncated || entry.stdout !== "",
  stderr_truncated: entry.stderr_truncated || entry.stderr !== "",
});

/**
 * The commands of all workspaces. A command is in the store as running before it starts. Its end is written a moment after its caller has the
 * result, off the path of the answer: until then the guest keeps it, so a daemon that dies between loses nothing. A call that reads the
 * journal has pending ends written first. That it has started is told while it runs, and again by the next daemon if this one dies first.
 */
export class Journal {
  readonly #store: Store;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #log: Log;
  #pending: Pending[] = [];

  constructor({ store, events, clock, log }: JournalOptions) {
    this.#store = store;
    this.#events = events;
    this.#clock = clock;
    this.#log = log;
  }

  begin(workspaceId: string, entry: Omit<JournalEntry, "sequence" | "state" | "started_at">): number {
    const sequence = this.#store.beginCommand(workspaceId, { ...entry, started_at: this.#clock.now() });
    this.#pending.push({ workspaceId, sequence, write: () => this.#tellStart(workspaceId, { ...entry, sequence }) });
    // Of a short command it is written together with its end.
    setTimeout(() => this.flush(), START_MS);
    return sequence;
  }

  /** Of commands that the last daemon had begun: it may have died before it told so. */
  retellStarts(workspaceId: string, entries: readonly JournalEntry[]): void {
    if (entries.length === 0) return;
    const told = this.#events.session(workspaceId, ["command.started"]);
    const known = new Set(told.map((event) => event.command_sequence));
    for (const entry of entries) if (!known.has(entry.sequence)) this.#tellStart(workspaceId, entry);
  }

  /** `written` is called when it is in the store; not when the disk is full, or the workspace is gone. */
  end(workspaceId: string, sequence: number, end: Partial<JournalEntry>, written: () => void = () => undefined): void {
    const at = this.#clock.now();
    this.#pending.push({ workspaceId, sequence, write: () => this.#writeEnd(workspaceId, sequence, end, at), written });
    setImmediate(() => this.flush());
  }

  /** The last commands, oldest first; of those that were long ago without their output, and of the oldest none, where all is too much to tell. */
  entries(workspaceId: string): JournalEntry[] {
    this.flush();
    let left = MAX_OUTPUT_BYTES;
    return this.#store
      .recentCommands(workspaceId, { count: MAX_ENTRIES, outputBytes: MAX_OUTPUT_BYTES })
      .toReversed()
      .map((entry) => {
        // SECURITY: as it is emitted: what is printed may be all control characters (G-25)
        left -= jsonBytes(entry.stdout) + jsonBytes(entry.stderr);
        return left >= 0 ? entry : withoutOutput(entry);
      })
      .toReversed();
  }

  find(workspaceId: string, sequence: number): JournalEntry | undefined {
    this.flush();
    return this.#store.findCommand(workspaceId, sequence);
  }

  /** Commands whose sandbox ended under them. */
  loseRunning(workspaceId: string): void {
    this.flush();
    const running = this.#store.listRunningCommands().filter((entry) => entry.workspace_id === workspaceId);
    this.retellStarts(workspaceId, running);
    for (const { sequence } of running) this.end(workspaceId, sequence, { state: "lost", exit_code: 125 });
    this.flush();
  }

  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    if (this.#writeTogether(pending)) return;
    for (const one of pending) {
      const { workspaceId, sequence } = one;
      try {
        this.#store.transaction(one.write);
        one.written?.();
      } catch (error) {
        // The caller has its result all the same. On a full disk the guest keeps the end for a later daemon's journal.
        const level =
          isClocheError(error) && ["DISK_FULL", "COMMAND_NOT_FOUND"].includes(error.code) ? "warn" : "error";
        this.#log[level]("cannot complete a journal entry", { workspaceId, sequence, error: String(error) });
      }
    }
  }

  /** Many at once cost little more than one. False, and nothing is written, when one of them cannot be: then each is tried by itself. */
  #writeTogether(pending: readonly Pending[]): boolean {
    if (pending.length < 2) return pending.length === 0;
    try {
      this.#store.transaction(() => {
        for (const { write } of pending) write();
      });
    } catch {
      return false;
    }
    for (const { written } of pending) written?.();
    return true;
  }

  #tellStart(
    workspaceId: string,
    { sequence, command, cwd }: Pick<JournalEntry, "sequence" | "command" | "cwd">,
  ): void {
    this.#events.record({
      kind: "command.started",
      workspace_id: workspaceId,
      command_sequence: sequence,
      command,
      cwd,
    });
  }

  #writeEnd(workspaceId: string, sequence: number, end: Partial<JournalEntry>, at: number): void {
    this.#store.endCommand(workspaceId, sequence, end, at);
    const { state = "done", exit_code = 0, timed_out = false, duration_ms = 0 } = end;
    if (state === "running") return;
    const told = { state, exit_code, timed_out, duration_ms };
    this.#events.record({ kind: "command.ended", workspace_id: workspaceId, command_sequence: sequence, ...told });
  }
}
