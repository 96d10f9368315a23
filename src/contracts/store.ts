import type { JournalEntry } from "../model/exec.ts";
import type { NetworkPolicy, WorkspaceState } from "../model/names.ts";
import type { Labels, WorkspaceSeed } from "../model/workspace.ts";
import type { WallLimits, WallRecord } from "./backend.ts";

/** `creating` and `deleting` are promises to finish or undo; the other states are those of the contract. */
export type StoredState = WorkspaceState | "creating" | "deleting";

/** A workspace as the store keeps it; written before anything is made outside the store. */
export interface StoredWorkspace {
  workspaceId: string;
  name: string | null;
  labels: Labels;
  environment: string;
  backend: string;
  state: StoredState;
  stateReason: string | null;
  networkPolicy: NetworkPolicy;
  createdAt: number;
  lastActivityAt: number;
  ttlSeconds: number;
  limits: WallLimits;
  ociRuntime: string | null;
  resetCount: number;
  seed: WorkspaceSeed;
  /** The cached tree under `/workspace`; kept from pruning while the workspace is there. */
  baseline: string;
  wall: WallRecord | null;
}

/** Synchronous: each call is one committed transaction when it returns. */
export interface Store {
  insertWorkspace(workspace: StoredWorkspace): void;
  /** Changes the fields given; unknown id is an error. */
  updateWorkspace(workspaceId: string, fields: Partial<Omit<StoredWorkspace, "workspaceId">>): void;
  findWorkspace(workspaceId: string): StoredWorkspace | undefined;
  /** Ids that start with the prefix, at most two. */
  findByPrefix(prefix: string): string[];
  /** Newest activity first, then newest creation, then id. */
  listWorkspaces(): StoredWorkspace[];
  /** Removes the workspace and its journal. */
  deleteWorkspace(workspaceId: string): void;

  /** Gives the next sequence and writes the entry as `running`, in one transaction. */
  beginCommand(workspaceId: string, entry: Omit<JournalEntry, "sequence" | "state">): number;
  /** Also sets the workspace's last activity, in one transaction. */
  endCommand(workspaceId: string, sequence: number, entry: Partial<JournalEntry>, activityAt: number): void;
  listCommands(workspaceId: string): JournalEntry[];
  countCommands(workspaceId: string): number;
  /** Entries still `running`, of all workspaces: what a new daemon has to take up. */
  listRunningCommands(): JournalEntry[];
  close(): void;
}
