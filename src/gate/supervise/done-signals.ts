import type { AgentEvent } from "../../model/gate-control.ts";

/** SECURITY: an agent says so a few times in its life, and cannot fill the log of events by it (G-106) */
const MOST = 16;

/** What an agent has said of its work being done. The same said again is told once. */
export class DoneSignals {
  readonly #said = new Set<string>();
  readonly #tell: (event: AgentEvent) => void;

  constructor(tell: (event: AgentEvent) => void) {
    this.#tell = tell;
  }

  /** False where it was said too often. */
  say(summary: string): boolean {
    if (this.#said.has(summary)) return true;
    if (this.#said.size >= MOST) return false;
    this.#said.add(summary);
    this.#tell({ kind: "run.done", summary });
    return true;
  }
}
