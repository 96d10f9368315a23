import { within } from "../base/deadline.ts";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** A call that needs the sandbox waits that long for it to be taken up. */
const PATIENCE_MS = 5000;

interface Adoption {
  /** The attempt under way, or the one that failed. */
  attempt: Promise<void>;
  failed: boolean;
  readonly adopt: () => Promise<LiveWorkspace>;
}

/** Sandboxes of an earlier daemon that this one has found and not taken up yet: their guest programs have still to answer. */
export class Adoptions {
  readonly #pending = new Map<string, Adoption>();
  readonly #onAdopted: (live: LiveWorkspace) => void;

  constructor(onAdopted: (live: LiveWorkspace) => void) {
    this.#onAdopted = onAdopted;
  }

  get size(): number {
    return this.#pending.size;
  }

  has(workspaceId: string): boolean {
    return this.#pending.has(workspaceId);
  }

  /** Begins an adoption. After `forget` a sandbox that it finds is let go again. */
  begin(workspaceId: string, adopt: () => Promise<LiveWorkspace>): void {
    const adoption: Adoption = { attempt: Promise.resolve(), failed: false, adopt };
    this.#pending.set(workspaceId, adoption);
    this.#try(workspaceId, adoption);
  }

  /** Resolves when it is taken up, or was before. One that failed is tried again. */
  async settled(workspaceId: string, patienceMs = PATIENCE_MS): Promise<void> {
    const adoption = this.#pending.get(workspaceId);
    if (!adoption) return;
    if (adoption.failed) this.#try(workspaceId, adoption);
    // SECURITY: a guest that does not answer holds up nobody else (G-10).
    await within(patienceMs, adoption.attempt, () => noAnswer(workspaceId));
  }

  forget(workspaceId: string): void {
    this.#pending.delete(workspaceId);
  }

  #try(workspaceId: string, adoption: Adoption): void {
    const attempt = async () => {
      try {
        const live = await adoption.adopt();
        if (this.#pending.get(workspaceId) !== adoption) {
          await live.release();
          return;
        }
        this.#pending.delete(workspaceId);
        this.#onAdopted(live);
      } catch (error) {
        adoption.failed = true;
        throw error;
      }
    };
    adoption.failed = false;
    adoption.attempt = attempt();
    adoption.attempt.catch(() => undefined); // the caller that waits for it gets the error
  }
}

export const noAnswer = (workspaceId: string): Error =>
  failure("SANDBOX_LOST", `The guest program of workspace ${workspaceId} does not answer`, {
    hint: [
      way`Try again; if it stays so, run ${call("stopWorkspace", { workspace_id: null })}, then ${call("startWorkspace", { workspace_id: null })}`,
    ],
  });
