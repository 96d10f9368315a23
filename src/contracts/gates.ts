import type { Door } from "../model/door.ts";
import type { DoorReport } from "../model/gate-control.ts";

/** What the gate of a workspace is to serve. */
export interface ServedDoors {
  /** Of the wall that the workspace has now; null while it has none. */
  readonly guestSocket: string | null;
  readonly doors: readonly Door[];
}

/**
 * Gates: one process for each workspace that has doors. A gate outlives the daemon, and goes on with what it was last told. Calls about one workspace may
 * overlap; the last one counts.
 */
export interface Gates {
  /**
   * Has the gate of a workspace serve these, and starts it when none runs; its folder is made in the workspace's, which is there. A gate that dies meanwhile
   * is replaced. Resolves when each door is open or has been refused. Throws GATE_FAILED.
   */
  serve(workspaceId: string, wanted: ServedDoors): Promise<readonly DoorReport[]>;
  /** What a gate has told last; nothing where this daemon has no gate. */
  reports(workspaceId: string): readonly DoorReport[];
  /** Ends the gate of a workspace, also one that nobody knows of, and removes what it has. Idempotent. */
  end(workspaceId: string): Promise<void>;
  /** Lets go of all; the gates go on. */
  close(): void;
}
