import type { ApplyForm } from "./applied.ts";
import type { Command, JournalEntry } from "./exec.ts";
import type { BudgetResource } from "./budget.ts";
import type { Egress } from "./egress.ts";
import type { ChangeStatus } from "./files.ts";
import type { ArtifactType } from "./names.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { ApprovalScope, ProposalKind, ProposalStatus } from "./proposal-kinds.ts";
import type { ServiceState } from "./service.ts";
import type { Labels } from "./workspace.ts";

/** What every event has. */
export interface EventHead {
  /** Its place in the log of one home: each next one is one more, and none is given twice. */
  sequence: number;
  /** Unix seconds, by the host's clock: it may go backwards, the sequence does not. */
  time: number;
  /** The workspace that it is about; also when that is gone. */
  workspace_id: string | null;
  /** The run that it is about. */
  identity: string | null;
  /** A text or a list in it was too long, and was cut. */
  truncated?: true;
}

/** What a gate found in a request or an answer: where and by which rule, never what. */
export interface EgressFinding {
  detector: string;
  rule: string;
  name: string | null;
  place: string;
  view: string;
}

/** One request at the gate. */
interface EgressFacts {
  method: string;
  host: string;
  port: number;
  /** Without its query. */
  path: string;
  /** Host of the route that decided; null when none did. */
  rule: string | null;
  bytes_sent: number;
  bytes_received: number;
  duration_ms: number;
  /** Whether the gate put a credential in. */
  injected: boolean;
  /** Their names: the variables, or the commands, that they come from. */
  credentials: string[];
  findings: EgressFinding[];
  /** Tokens that a model's answer told it took; null for every other answer. */
  model_usage: ModelUsage | null;
}

/** The closed list of kinds, and what an event of each kind tells beside its head. */
export interface EventPayloads {
  "workspace.created": { name: string | null; environment: string; backend: string; from_workspace_id: string | null };
  "workspace.forked": {
    name: string | null;
    environment: string;
    backend: string;
    from_workspace_id: string;
    snapshot_name: string | null;
  };
  "workspace.updated": { name: string | null; labels: Labels; ttl_seconds: number; keep: boolean };
  "workspace.started": object;
  "workspace.stopped": object;
  "workspace.reset": { snapshot_name: string; reset_count: number };
  /** Its time to live is over. It is deleted at once where `deletes_at` is null; else it was stopped, and is deleted then. */
  "workspace.expired": { ttl_seconds: number; deletes_at: number | null };
  "workspace.failed": { reason: string };
  /** `because`: somebody asked for it, or its time was over. */
  "workspace.deleted": { name: string | null; labels: Labels; because: "asked" | "expired" };

  "command.started": { command_sequence: number; command: Command; cwd: string };
  "command.ended": {
    command_sequence: number;
    /** `exit_code`, `timed_out` and `duration_ms` mean something only when it is `done`. */
    state: Exclude<JournalEntry["state"], "running">;
    exit_code: number;
    timed_out: boolean;
    duration_ms: number;
  };

  "file.written": { path: string; bytes_written: number };
  "patch.applied": { files: { path: string; status: ChangeStatus }[]; file_count: number };
  "sync.pushed": { source_path: string; dest: string; files: number };
  "export.made": { workspace_path: string; output_path: string; artifact_type: ArtifactType };
  "disk.exported": { output_path: string };
  "changes.applied": { as: ApplyForm; checkout_path: string; branch: string | null; files: number };

  "snapshot.created": { snapshot_name: string; live: boolean; size_bytes: number };
  "snapshot.deleted": { snapshot_name: string };

  "service.started": { service_name: string; command: Command };
  "service.ready": { service_name: string };
  "service.ended": {
    service_name: string;
    state: Extract<ServiceState, "exited" | "failed" | "stopped">;
    exit_code: number | null;
  };

  "shell.opened": { shell_id: string; cwd: string };
  "shell.closed": { shell_id: string };

  "egress.request": EgressFacts & { status: number };
  "egress.denied": EgressFacts & { code: string };
  /** Of requests that the policy's `log` leaves out: that a credential was used is always told. */
  "credential.used": { credentials: string[]; host: string; port: number; requests: number };
  "egress.lost": { count: number };
  /** The policies as they are written, and the hashes of their canonical form. */
  "policy.changed": {
    /** The user of the host who did it, or `rule r-…`. */
    operator: string | null;
    /** Of the proposal that was approved; null where somebody set another policy. */
    proposal_id: string | null;
    before_hash: string;
    after_hash: string;
    before: Egress;
    after: Egress;
  };
  "push.accepted": { repo: string; refs: string[] };
  "push.held": { repo: string; refs: string[]; proposal_id: string };
  "push.rejected": { repo: string; refs: string[]; reason: string };
  "proposal.created": {
    proposal_id: string;
    proposal_kind: ProposalKind;
    justification: string;
    /** What it would add to the policy. */
    adds: string;
    proposed: unknown;
    command: string | null;
    current_hash: string;
    expires_at: number;
  };
  "proposal.decided": {
    proposal_id: string;
    proposal_kind: ProposalKind;
    status: Exclude<ProposalStatus, "pending">;
    reason: string | null;
    /** A user of this host, or `rule r-…`; null for one that expired. */
    decided_by: string | null;
    scope: ApprovalScope | null;
    adds: string;
    /** As it was approved. */
    proposed: unknown;
    /** Of the part of the policy that it changed, before and after; the same where it changed nothing. */
    hash_before: string;
    hash_after: string;
  };
  /** An approval could not be applied: the policy is as it was, and the proposal waits on. */
  "proposal.failed": {
    proposal_id: string;
    proposal_kind: ProposalKind;
    reason: string;
    /** Who approved it: a user of this host, or `rule r-…`. */
    decided_by: string;
  };
  "rule.added": { rule_id: string; proposal_kind: ProposalKind; adds: string; reason: string; created_by: string };
  "rule.removed": { rule_id: string; proposal_kind: ProposalKind; removed_by: string };
  /** Four fifths of what a run may use up are gone; when all of it is, requests are held. */
  "budget.near": { resource: BudgetResource; used: number; limit: number };
  "run.started": {
    agent_name: string;
    bottle_names: string[];
    backend: string;
    label: string | null;
    /** The user of the host who launched it. */
    operator: string | null;
    environment: string;
    /** Of the environment's content. */
    environment_digest: string | null;
    /** Of what may leave it. */
    policy_hash: string | null;
    /** Whether it was there before. */
    resumed: boolean;
  };
  "run.moved": { environment: string };
  "run.done": { summary: string };
  /** `has_changes`: its workspace is still there, with changes that can be brought home. */
  "run.ended": { exit_code: number | null; kept: boolean; reason: string | null; has_changes: boolean };

  /**
   * Events from the first to the last of these are no longer in the log, and a watcher that asked for them did not get them. It is in
   * no log: each watcher is told of its own gap, whatever kinds it asked for. Its sequence is the last of those missed.
   */
  "log.gap": { first_missing: number; last_missing: number };
}

export type EventKind = keyof EventPayloads;
export type EventOf<Kind extends EventKind> = { [One in Kind]: EventHead & { kind: One } & EventPayloads[One] }[Kind];
/** One change that somebody could want to see. It outlives what it tells of, and holds no secret. */
export type ClocheEvent = EventOf<EventKind>;

/** A part of the log, as it was asked for. */
export interface EventPage {
  /** In the order of their sequence. */
  events: ClocheEvent[];
  /** All up to here was looked at: what comes next comes after it, also when nothing in this part was asked for. */
  through: number;
}

/** How a watch ended. */
export interface EventsWatched {
  through: number;
  /** `end`: the log was read, and nobody asked for what comes. `daemon_stopped`: the next daemon goes on after `through`. */
  because: "end" | "daemon_stopped";
}

/** Each kind, and what has happened when it is told. */
export const EVENT_KINDS = {
  "workspace.created": "A workspace was made, and runs",
  "workspace.forked": "A workspace was made from another one, and runs",
  "workspace.updated": "Its name, labels or time to live were changed",
  "workspace.started": "A stopped, failed or expired workspace runs again",
  "workspace.stopped": "Its sandbox was ended; its files stay",
  "workspace.reset": "It went back to a snapshot",
  "workspace.expired": "Its time to live is over: it is deleted, or stopped and kept for a while",
  "workspace.failed": "Its sandbox ended by itself",
  "workspace.deleted": "It is gone",
  "command.started": "A command began",
  "command.ended": "A command ended, or was lost with its sandbox",
  "file.written": "A file was written from outside",
  "patch.applied": "A patch changed files",
  "sync.pushed": "Files of the host were brought in",
  "export.made": "A file or a folder was taken out",
  "disk.exported": "The disk of a stopped workspace was taken out",
  "changes.applied": "Its changes were brought into a checkout of the host",
  "snapshot.created": "A snapshot was made",
  "snapshot.deleted": "A snapshot was deleted",
  "service.started": "A service was started, and is not ready yet",
  "service.ready": "A service is ready",
  "service.ended": "A service ended, failed or was stopped",
  "shell.opened": "A shell was opened",
  "shell.closed": "A shell was closed",
  "egress.request": "A request went out through the gate",
  "egress.denied": "The gate refused a request",
  "credential.used": "The gate put a credential into requests that are not logged",
  "egress.lost": "A gate has dropped events, because no daemon took them",
  "policy.changed": "What may leave a workspace was changed",
  "push.accepted": "The gate sent a push on",
  "push.held": "A push waits for the operator",
  "push.rejected": "The gate refused a push",
  "proposal.created": "Somebody asks the operator for something",
  "proposal.decided": "A proposal was answered, or its time ran out",
  "proposal.failed": "An approval could not be applied; the proposal waits on",
  "rule.added": "The operator wrote a rule that answers proposals",
  "rule.removed": "Such a rule is gone",
  "budget.near": "A run has nearly used up what its bottle gives it",
  "run.started": "An agent was launched",
  "run.moved": "An agent goes on in another environment",
  "run.done": "An agent says that its work is done; it may go on",
  "run.ended": "An agent has ended",
  "log.gap": "Events that a watcher asked for are no longer kept",
} as const satisfies Record<EventKind, string>;

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENT_KINDS, text);

/** Fails to compile when a payload has a field of the head's name. */
type Clash = { [Kind in EventKind]: keyof EventPayloads[Kind] & (keyof EventHead | "kind") }[EventKind];
export const noPayloadHidesTheHead: Clash extends never ? true : Clash = true;
