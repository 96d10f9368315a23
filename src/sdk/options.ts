import type { ClocheEvent } from "../model/event.ts";
import type { ExecResult } from "../model/exec.ts";
import type { OperationInput, OperationName } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { WorkspaceSeed } from "../model/workspace.ts";
import type { RunEnd } from "../model/run.ts";
import type { Shell } from "../model/shell.ts";
import type { Manifest } from "./manifest.ts";

export interface ClocheOptions {
  /** Instead of `$CLOCHE_HOME`. */
  home?: string | undefined;
  /** Instead of `$CLOCHE_CACHE`; counts only for a daemon that this client starts. */
  cache?: string | undefined;
  /** Instead of the process's own environment. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Instead of the built-in daemon: the path of a program that calls `runDaemonWith` of `cloche/backend`. */
  daemonProgram?: string | undefined;
}

export interface CallOptions {
  /** Ends the operation; the call then fails with `CANCELLED`. */
  signal?: AbortSignal | undefined;
}

export interface LongCallOptions extends CallOptions {
  onProgress?: ReportProgress | undefined;
}

/** An operation's input without what the method takes by position. */
type OptionsOf<Name extends OperationName, Positional extends string = never> = Omit<
  OperationInput<Name>,
  "workspace_id" | Positional
> &
  CallOptions;

export type CreateOptions = OperationInput<"createWorkspace"> & LongCallOptions;
export type CheckEgressOptions = Omit<OperationInput<"checkEgress">, "url"> & CallOptions;
export type ShowAuditOptions = OperationInput<"showAudit"> & CallOptions;
export type ExportAuditOptions = OperationInput<"exportAudit"> & CallOptions;
export type EvidenceOptions = OptionsOf<"makeEvidence", "identity"> & LongCallOptions;
export type SetEgressOptions = OptionsOf<"setEgress", "egress">;
export type PrepareOptions = OperationInput<"prepare"> & LongCallOptions;
export type PullOptions = Omit<OperationInput<"pullEnvironment">, "environment"> & LongCallOptions;
export type McpTokenOptions = OperationInput<"mcpToken"> & CallOptions;
export type PruneOptions = OperationInput<"pruneEnvironments"> & LongCallOptions;
/** Where agents and bottles are looked for. */
export interface ManifestOptions extends CallOptions {
  /** Whose `.cloche/agents` count beside those of the home; the current folder unless said. */
  project_path?: string | undefined;
  /** In place of all files. */
  manifest?: Manifest | undefined;
}
export type PlanRunOptions = Omit<
  OperationInput<"planRun">,
  "agent" | "project_path" | "manifest" | "default_backend" | "guest_skills_folder"
> &
  ManifestOptions;
export type InitManifestOptions = OperationInput<"initManifest"> & CallOptions;
export type UpdateOptions = OptionsOf<"updateWorkspace">;
export type ForkOptions = OptionsOf<"forkWorkspace"> & LongCallOptions;
export interface MapOptions extends Omit<ForkOptions, "name"> {
  /** How many tasks go on at a time; 4 unless told. */
  concurrency?: number | undefined;
}
/** What the work of a task gets beside its fork and the task. */
export interface MapTask {
  /** Of the task among all. */
  index: number;
  /** Aborted when another task has failed, or the caller's own signal says so. */
  signal: AbortSignal;
}
export type ResetOptions = OptionsOf<"resetWorkspace"> & LongCallOptions;
export type ExecOptions = OptionsOf<"execWorkspace">;
export type StreamOptions = ExecOptions;
export interface ExecCallbacks {
  /** Gets what the command prints, as it comes; whole characters, not whole lines. What it throws ends the command. */
  onStdout?: ((text: string) => void) | undefined;
  onStderr?: ((text: string) => void) | undefined;
}
export type OpenCommandOptions = OptionsOf<"streamWorkspace">;
export type ListFilesOptions = OptionsOf<"listWorkspaceFiles">;
export type ReadFileOptions = OptionsOf<"readWorkspaceFile", "path">;
export type WriteFileOptions = OptionsOf<"writeWorkspaceFile", "path">;
export type PatchOptions = OptionsOf<"applyWorkspacePatch">;
export type DiffOptions = OptionsOf<"diffWorkspace">;
export type ExportOptions = OptionsOf<"exportWorkspace", "path">;
export type SyncOptions = OptionsOf<"pushWorkspaceSync", "source_path"> & LongCallOptions;
export type DiskExportOptions = OptionsOf<"exportWorkspaceDisk"> & LongCallOptions;
export type StartServiceOptions = OptionsOf<"startService", "service_name">;
export type ServiceLogsOptions = OptionsOf<"logsService", "service_name">;
export type OpenShellOptions = OptionsOf<"openShell">;
export type ReadShellOptions = OptionsOf<"readShell", "shell_id">;
export type WriteShellOptions = OptionsOf<"writeShell", "shell_id">;
/** Here `signal` is the shell's, not one that ends the call. */
export type SignalShellOptions = Pick<OperationInput<"signalShell">, "signal">;
export type ResizeShellOptions = OptionsOf<"resizeShell", "shell_id">;
export type AttachShellOptions = OptionsOf<"attachShell", "shell_id">;
export type RunOptions = OperationInput<"createWorkspace"> & OptionsOf<"execWorkspace"> & LongCallOptions;
export type OpenRunOptions = RunOptions & Pick<OperationInput<"streamWorkspace">, "stdin" | "pty">;

/** How the command ended, and what its workspace began with. */
export interface RunResult extends ExecResult {
  workspace_seed: WorkspaceSeed;
}

/** Here `signal` is the command's, not one that ends the call. */
export type SignalCommandOptions = Partial<Pick<OperationInput<"signalCommand">, "signal">>;
export type CommandSignal = OperationInput<"signalCommand">["signal"];

export interface OutputChunk {
  channel: "stdout" | "stderr";
  data: Buffer;
}

/**
 * A running command, byte for byte. It goes on when the daemon dies and a new one adopts its sandbox. Output that nobody reads
 * holds the command up; leaving the loop over `output()` drops the rest.
 */
export interface CommandStream extends AsyncDisposable {
  /** Its number in the journal, known once it has started. */
  readonly sequence: Promise<number>;
  /** How it ended; comes after the last output. */
  readonly result: Promise<ExecResult>;
  /** May be called once. */
  output(): AsyncIterable<OutputChunk>;
  /** Resolves when there is room for more. Only with `stdin: true`. */
  write(data: Uint8Array | string): Promise<void>;
  /** End of file for the command's standard input. Idempotent. */
  endInput(): void;
  signal(name: CommandSignal): Promise<void>;
  /** Only with `pty`. */
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** Ends the command if it still runs. */
  close(): Promise<void>;
}

/** A command in a workspace that is deleted after it. */
export interface RunStream extends CommandStream {
  readonly workspace_seed: WorkspaceSeed;
  readonly result: Promise<RunResult>;
}

/**
 * The terminal of a shell, byte for byte. When the daemon dies it goes on with the next one, which shows the last screenful again.
 * Leaving it does not end the shell.
 */
export interface ShellStream extends AsyncDisposable {
  /** The shell when it ended, or when this stream left it. Comes after the last output. */
  readonly result: Promise<Shell>;
  /** May be called once. Leaving the loop drops the rest. */
  output(): AsyncIterable<Buffer>;
  /** What is typed. Resolves when there is room for more. */
  write(data: Uint8Array | string): Promise<void>;
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** Nothing more is typed: the daemon lets go of the shell, and `result` comes. Idempotent. */
  endInput(): void;
  /** `endInput`, without waiting for a reader of the last output. */
  detach(): Promise<Shell>;
  /** Cuts the connection; `result` is then `CANCELLED`. The shell goes on. */
  close(): Promise<void>;
}

/** What a launch takes beside its plan. `variables` and `answers` are what the plan wanted: they are sent in the call and written nowhere. */
export type LaunchOptions = Pick<
  OperationInput<"startRun">,
  "variables" | "answers" | "skills_path" | "search_path" | "terminal"
> &
  LongCallOptions;
export type StartRunOptions = PlanRunOptions & LaunchOptions;
export type PlanResumeOptions = Pick<PlanRunOptions, "headless" | "prompt" | "manifest" | "signal">;
export type ResumeRunOptions = PlanResumeOptions & LaunchOptions;
export type AttachRunOptions = Omit<OperationInput<"attachRun">, "identity"> & CallOptions;
export type ApplyRunOptions = Omit<OperationInput<"applyRun">, "identity"> & LongCallOptions;
export type ListRunsOptions = OperationInput<"listRuns"> & CallOptions;
export type ListApprovalsOptions = OperationInput<"listApprovals"> & CallOptions;
export type ShowApprovalOptions = Omit<OperationInput<"showApproval">, "proposal_id"> & CallOptions;
export type ApproveOptions = Omit<OperationInput<"approveProposal">, "proposal_id"> & LongCallOptions;
export type ApprovalRuleOptions = Omit<OperationInput<"addApprovalRule">, "kind" | "proposed"> & CallOptions;
export type CleanUpOptions = OperationInput<"cleanUp"> & LongCallOptions;

export type RunSignal = OperationInput<"signalRun">["signal"];

/** A run, byte for byte. When the daemon dies it goes on with the next one. Leaving it does not end the run. */
export interface RunAttachment extends AsyncDisposable {
  /** How the run ended and what became of it, or that this stream left it. Comes after the last output. */
  readonly result: Promise<RunEnd>;
  /** May be called once. Leaving the loop drops the rest. At a terminal all is `stdout`. */
  output(): AsyncIterable<OutputChunk>;
  /** What is typed, at a terminal. Resolves when there is room for more. */
  write(data: Uint8Array | string): Promise<void>;
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** To the agent and all that it has started. */
  signal(name: RunSignal): Promise<void>;
  /** Nothing more is typed: at a terminal the daemon lets go of the run, and `result` comes. Idempotent. */
  endInput(): void;
  /** Cuts the connection; `result` is then `CANCELLED`. The run goes on. */
  close(): Promise<void>;
}

/** With `follow: false` the events end with those that there are now. */
export type WatchOptions = OperationInput<"watchEvents"> &
  CallOptions & {
    /** Hears when the daemon that is watched is gone, and when the next one is there. Nothing is missed in between. */
    onConnection?: ((isConnected: boolean) => void) | undefined;
  };

/**
 * Events as they happen, each once and in order. When the daemon ends, this goes on with the next one. A reader that is slow holds nothing up, and
 * gets them later; one that is so late that some are no longer kept gets a `log.gap`. Leaving the loop closes it.
 */
export interface EventWatch extends AsyncIterable<ClocheEvent>, AsyncDisposable {
  /** Resolves when the daemon watches, to the sequence after which events come: what happens from then on is among them. */
  readonly ready: Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface SnapshotOptions extends CallOptions {
  /** With the running machine and its processes, where the backend can. */
  live?: boolean | undefined;
}
