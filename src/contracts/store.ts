import type { Uptime } from "../base/uptime.ts";
import type { Door } from "../model/door.ts";
import type { Egress } from "../model/egress.ts";
import type { ProviderShape } from "../model/egress-order.ts";
import type { Budget } from "../model/budget.ts";
import type { ClocheEvent, EventKind, EventOf, EventPage } from "../model/event.ts";
import type { Command, JournalEntry } from "../model/exec.ts";
import type { ModelUsageTotal } from "../model/model-usage.ts";
import type { NetworkPolicy, WorkspaceState } from "../model/names.ts";
import type { ApprovalRule, Proposal, ProposalKind, ProposalStatus } from "../model/proposal.ts";
import type { Readiness, ServiceState } from "../model/service.ts";
import type { ShellState } from "../model/shell.ts";
import type { CommandOutline } from "../model/summary.ts";
import type { Labels, WorkspaceSeed } from "../model/workspace.ts";
import type { WallLimits, WallRecord } from "./backend.ts";
import type { EventBounds, EventFilter } from "./events.ts";

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
  /** It never expires. */
  keep: boolean;
  /** How long it is kept with changes when its time is over; null: as the configuration says. */
  graceSeconds: number | null;
  /** Of an `expired` one. */
  expired: StoredExpiry | null;
  /** Its sandbox was ended in good order, and `/workspace` was then as it was at its creation. */
  unchanged: boolean;
  limits: WallLimits;
  ociRuntime: string | null;
  /** What its creator named this creation: asked again with it, the same workspace is the answer. */
  idempotencyKey: string | null;
  resetCount: number;
  seed: WorkspaceSeed;
  /** The cached tree under `/workspace`; kept from pruning while the workspace is there. */
  baseline: string;
  /** Ids of the read-only layers over the baseline, bottom first: what it was reset to or forked from. */
  layers: string[];
  /** Those of `layers` that are part of its baseline: of a fork that begins anew. */
  baseLayers: string[];
  /** What it began with, of a fork; null of what is none. */
  forkLayers: string[] | null;
  /** Counts its sandboxes: a reset makes a new one beside the old before it lets the old one go. */
  generation: number;
  /** When it was created or last reset. */
  sessionStartedAt: number;
  /** A value is never stored. */
  secrets: StoredSecret[];
  /** Those that it is to have, in every sandbox that it gets. */
  doors: Door[];
  /** Hosts that its egress door lets out to; empty without one, and with a whole policy. */
  allowHosts: string[];
  /** What its egress door lets out, route by route; null without. */
  egress: StoredEgress | null;
  /** What its models took: in all, and since it was made or last reset. */
  modelUsage: { total: ModelUsageTotal; session: ModelUsageTotal };
  wall: WallRecord | null;
}

/** A policy with all that it needs but its tokens, which are never stored. */
export interface StoredBudget {
  limits: Budget;
  given: Budget;
  /** Of the first start. */
  startedAt: number;
}

export interface StoredEgress {
  policy: Egress;
  /** What the sandbox has in the place of each token, by the name of its variable. */
  standIns: Record<string, string>;
  /** Texts of the files that routes trust, by their paths: they were read once, when the policy was given. */
  authorities: Record<string, string>;
  /** Of a run: the hosts of its agent's own model, and how that tells of an error. */
  providers?: Record<string, ProviderShape | null>;
  /** Of a run: what it may use up by its bottle, and what the operator has given to that. */
  budget?: StoredBudget;
}

/** When a time to live was over, and for how long what expired is kept since then. */
export interface StoredExpiry {
  at: number;
  graceSeconds: number;
  /** How long the host had been up then: a grace is not cut short by a clock that was set. */
  uptime: Uptime | null;
}

export interface StoredSecret {
  name: string;
  source_kind: "literal" | "file";
  /** By which the value is known again when it comes back from a sandbox. */
  digest?: string;
  /** It was lost, and the sandbox has been started without it. */
  absent?: true;
}

export interface StoredSnapshot {
  snapshotName: string;
  createdAt: number;
  sizeBytes: number;
  /** Over the workspace's baseline, bottom first. */
  layers: string[];
  /** Of a machine that was saved with its processes; null without. */
  session: StoredSession | null;
}

/** What runs in a sandbox and is known by a name or a number. */
export interface StoredSession {
  services: StoredService[];
  shells: StoredShell[];
  /** Those that had not ended. */
  commands: JournalEntry[];
}

export interface StoredService {
  serviceName: string;
  command: Command;
  cwd: string;
  readiness: Readiness | null;
  state: ServiceState;
  startedAt: number;
  readyAt: number | null;
  endedAt: number | null;
  exitCode: number | null;
  publishedPorts: { guest_port: number; host_port: number; host: string }[];
}

export interface StoredShell {
  shellId: string;
  cwd: string;
  cols: number;
  rows: number;
  state: ShellState;
  exitCode: number | null;
  /** Null of one that an older version opened. */
  openedAt: number | null;
}

/** A proposal as the store keeps it. It outlives its workspace. */
export interface StoredProposal extends Proposal {
  /** What the gate calls it; several where a gate has forgotten that it asked. */
  ask_ids: string[];
  /** Until when what it lets pass may pass; null where nothing is held. */
  valid_until: number | null;
}

export interface EventRetention {
  readonly sinceTime: number;
  readonly maxBytes: number;
  /** Events after this one are kept until they take twice as much. */
  readonly keepAfter: number;
}

/** Synchronous: each call is one committed transaction when it returns, unless it is part of a larger one. */
export interface Store {
  /** All that `work` does in the store, or nothing. */
  transaction<Result>(work: () => Result): Result;
  insertWorkspace(workspace: StoredWorkspace): void;
  /** Changes the fields given; unknown id is an error. */
  updateWorkspace(workspaceId: string, fields: Partial<Omit<StoredWorkspace, "workspaceId">>): void;
  findWorkspace(workspaceId: string): StoredWorkspace | undefined;
  /** Ids that start with the prefix, at most `limit`. */
  findByPrefix(prefix: string, limit: number): string[];
  /** Ids of those with that name, in their order, at most `limit`. */
  findByName(name: string, limit: number): string[];
  /** The id of the one that was made with that key, whatever state it is in; the newest of several. */
  findByKey(key: string): string | undefined;
  /** Newest activity first, then newest creation, then id. */
  listWorkspaces(): StoredWorkspace[];
  /** Removes the workspace and all that belongs to it; events about it stay. */
  deleteWorkspace(workspaceId: string): void;
  /** Changes the fields given and removes journal, services and shells, in one transaction; snapshots and events stay. */
  resetWorkspace(workspaceId: string, fields: Partial<Omit<StoredWorkspace, "workspaceId">>): void;

  /** False, and nothing changed, when there is one of that name. */
  insertSnapshot(workspaceId: string, snapshot: StoredSnapshot): boolean;
  findSnapshot(workspaceId: string, snapshotName: string): StoredSnapshot | undefined;
  /** Oldest first; without the baseline. */
  listSnapshots(workspaceId: string): StoredSnapshot[];
  deleteSnapshot(workspaceId: string, snapshotName: string): boolean;
  /** Ids of every layer that a workspace or a snapshot stands on. */
  listLayers(): Set<string>;

  /** Inserts or replaces. */
  putService(workspaceId: string, service: StoredService): void;
  findService(workspaceId: string, serviceName: string): StoredService | undefined;
  /** By name. */
  listServices(workspaceId: string): StoredService[];
  /** Inserts or replaces. */
  putShell(workspaceId: string, shell: StoredShell): void;
  findShell(workspaceId: string, shellId: string): StoredShell | undefined;
  listShells(workspaceId: string): StoredShell[];
  deleteShell(workspaceId: string, shellId: string): void;

  /** Gives it the next sequence. */
  appendEvent(event: Omit<ClocheEvent, "sequence">): void;
  /** At most `limit` events after that sequence are looked at, and fewer when they are long. */
  readEvents(since: number, filter: EventFilter, limit: number): EventPage;
  eventBounds(): EventBounds;
  /** The deletion of a workspace that had that id, or that name at its end; of several the last. */
  findDeletion(by: { workspaceId: string } | { name: string }): EventOf<"workspace.deleted"> | undefined;
  /** Of a workspace since it was made or last reset: the newest of these kinds, oldest first. */
  listSessionEvents<Kind extends EventKind>(workspaceId: string, kinds: readonly Kind[]): EventOf<Kind>[];
  /** Removes from the old end what is too old or too much, at most `limit` events, and never the newest. Gives how many. */
  dropEvents(keep: EventRetention, limit: number): number;

  /** Gives the next sequence and writes the entry as `running`, in one transaction. */
  beginCommand(workspaceId: string, entry: Omit<JournalEntry, "sequence" | "state">): number;
  /** Inserts an entry under the sequence that it has. */
  insertCommand(workspaceId: string, entry: JournalEntry): void;
  /** Also sets the workspace's last activity, in one transaction. */
  endCommand(workspaceId: string, sequence: number, entry: Partial<JournalEntry>, activityAt: number): void;
  listCommands(workspaceId: string): JournalEntry[];
  findCommand(workspaceId: string, sequence: number): JournalEntry | undefined;
  /** The last ones, oldest first; the output only of the last of them, up to so many bytes together. */
  recentCommands(workspaceId: string, most: { count: number; outputBytes: number }): JournalEntry[];
  countCommands(workspaceId: string): number;
  /** The last commands, without their output, in the order they began. */
  outlineCommands(workspaceId: string, limit: number): CommandOutline[];
  /** Entries still `running`, of all workspaces: what a new daemon has to take up. */
  listRunningCommands(): JournalEntry[];

  /** Inserts, or changes all but what it is known by. */
  putProposal(proposal: StoredProposal): void;
  findProposal(proposalId: string): StoredProposal | undefined;
  /** Ids that start with the prefix, at most `limit`. */
  findProposalIds(prefix: string, limit: number): string[];
  /** By what the gate of that workspace calls it. */
  findAsk(workspaceId: string, askId: string): StoredProposal | undefined;
  /** The newest one of that content. While one waits for an answer there is no newer one. */
  findContent(workspaceId: string, kind: ProposalKind, contentHash: string): StoredProposal | undefined;
  /** Oldest first; of one status, or all. */
  listProposals(status?: ProposalStatus): StoredProposal[];
  countPending(workspaceId: string): number;
  /** Those that were made since then, answered or not. */
  countProposals(workspaceId: string, sinceTime: number): number;
  /** Removes answered ones that are older, and those before the newest so many. */
  dropProposals(keep: { readonly sinceTime: number; readonly most: number }): void;
  /** Inserts or replaces. */
  putRule(rule: ApprovalRule): void;
  /** Oldest first. */
  listRules(): ApprovalRule[];
  deleteRule(ruleId: string): boolean;
  close(): void;
}
