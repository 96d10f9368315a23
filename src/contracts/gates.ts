import type { Door } from "../model/door.ts";
import type { EgressOrder } from "../model/egress-order.ts";
import type { GateProgram, GitOrder } from "../model/git-order.ts";
import type { DoorReport, GateAnswer, GateAsk, GateEvent } from "../model/gate-control.ts";

/** What the gate of a workspace is to serve. */
export interface ServedDoors {
  /** Of the wall that the workspace has now; null while it has none. */
  readonly guestSocket: string | null;
  readonly doors: readonly Door[];
  /** What egress doors let out; null leaves that as the gate has it. */
  readonly egress: EgressOrder | null;
}

/** What a git door serves, and what that takes on the host. */
export interface ServedGit {
  /** The folder of mirrors is the gate's own to choose. */
  readonly order: Omit<GitOrder, "folder">;
  /** What the gate's keeper runs for it. `{files}` in a word stands for what comes before the name of a file below. */
  readonly programs: readonly GateProgram[];
  /** What these programs read, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

export interface GateListener {
  /** Requests that went through a gate, or did not. They are told again unless this returns. */
  egress(workspaceId: string, events: readonly GateEvent[], lost: number): void;
  /** Credentials that a gate has not, or that an upstream did not take. */
  wants(workspaceId: string, names: readonly string[]): void;
  /** A gate that was started anew shows another certificate. */
  certificate(workspaceId: string, pem: string): void;
}

export interface AskListener {
  /** What waits for an answer at a gate: all of it when a gate is reached, and whenever there is more. Some may be known. */
  asks(workspaceId: string, asks: readonly GateAsk[]): void;
}

/**
 * Gates: one process for each workspace that has doors. A gate outlives the daemon, and goes on with what it was last told. Calls about one workspace may
 * overlap; the last one counts.
 */
export interface Gates {
  /** Takes up what an earlier daemon left. Before the first of all calls. */
  recover(): Promise<void>;
  /** A workspace will need a gate soon: one is started ahead, and is given to the first that does. From then on one is kept ready. */
  expect(): void;
  /**
   * Has the gate of a workspace serve these, and starts it when none runs; its folder is made in the workspace's, which is there. A gate that dies meanwhile
   * is replaced. Resolves when each door is open or has been refused. Throws GATE_FAILED.
   */
  serve(workspaceId: string, wanted: ServedDoors): Promise<readonly DoorReport[]>;
  /** What the git door of a workspace serves from its next order on. A daemon that was not told leaves that as the gate has it. */
  giveGit(workspaceId: string, git: ServedGit): void;
  /** Gives a gate that serves another order for what it lets out, and waits until that is in force; undefined where none serves. Throws GATE_FAILED. */
  renew(workspaceId: string, egress: EgressOrder): Promise<{ revision: number } | undefined>;
  /** What a gate has told last; nothing where this daemon has no gate. */
  reports(workspaceId: string): readonly DoorReport[];
  /** What a sandbox is to trust for its egress door, in PEM; null where its gate has none, or is not known. */
  certificate(workspaceId: string): string | null;
  /** From now on, one listener is told what gates tell by themselves. */
  listen(listener: GateListener): void;
  /** The same for what gates ask. */
  listenToAsks(listener: AskListener): void;
  /** Tells the gate what became of what it asked. One that is not reached asks again. */
  answer(workspaceId: string, answers: readonly GateAnswer[]): void;
  /** Ends the gate of a workspace, also one that nobody knows of, and removes what it has. Idempotent. */
  end(workspaceId: string): Promise<void>;
  /** Lets go of all; the gates of workspaces go on. */
  close(): Promise<void>;
}
