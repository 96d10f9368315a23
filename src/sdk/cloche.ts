import { resolve } from "node:path";
import { placesFrom, type Places } from "../base/paths.ts";
import type { EgressInput } from "../model/egress.ts";
import type { EgressCheck, EgressLearned, EgressSet } from "../model/egress-seen.ts";
import type { CommandSignalled, CommandStarted, ExecEvent, ExecResult, Journal } from "../model/exec.ts";
import type {
  Diff,
  DiskExported,
  Exported,
  FileContent,
  FileList,
  FileWritten,
  PatchApplied,
  SyncPushed,
} from "../model/files.ts";
import type { CallName, OperationInput, OperationResult } from "../model/operations.ts";
import type { Service, ServiceList, ServiceLogs } from "../model/service.ts";
import type { Shell, ShellClosed, ShellList, ShellOutput, ShellSignalled, ShellWritten } from "../model/shell.ts";
import type { SnapshotDeleted, SnapshotList, SnapshotMade, WorkspaceReset } from "../model/snapshot.ts";
import type { Summary } from "../model/summary.ts";
import type { DeletedWorkspace, Workspace, WorkspaceList } from "../model/workspace.ts";
import { ask } from "./ask.ts";
import { openCommandStream } from "./command-stream.ts";
import { DaemonConnection } from "./connection.ts";
import { toExecEvents } from "./exec-events.ts";
import { onThisHost, policyFrom, policyInput, resolveHostPath } from "./on-this-host.ts";
import type {
  AttachShellOptions,
  CallOptions,
  CheckEgressOptions,
  ClocheOptions,
  CommandStream,
  CreateOptions,
  DiffOptions,
  DiskExportOptions,
  ExecOptions,
  ExportOptions,
  ForkOptions,
  ListFilesOptions,
  LongCallOptions,
  OpenCommandOptions,
  OpenRunOptions,
  OpenShellOptions,
  PatchOptions,
  SnapshotOptions,
  ReadFileOptions,
  ReadShellOptions,
  ResetOptions,
  ResizeShellOptions,
  RunOptions,
  RunResult,
  RunStream,
  ServiceLogsOptions,
  SetEgressOptions,
  ShellStream,
  SignalCommandOptions,
  SignalShellOptions,
  StartServiceOptions,
  StreamOptions,
  SyncOptions,
  UpdateOptions,
  WriteFileOptions,
  WriteShellOptions,
} from "./options.ts";
import { openRunStream, runToEnd } from "./run-workspace.ts";
import { openShellStream } from "./shell-stream.ts";
import type { WorkspaceHandle } from "./workspace-handle.ts";
import type { ProcessEnvironment } from "./installation-calls.ts";
import { RunCalls } from "./run-calls.ts";

/**
 * The client of one installation. It starts the daemon when it needs one. Methods answer the objects of the wire; what fails throws a
 * `ClocheError` with `code` and `hint`. Host paths are relative to the current folder of this process.
 */
export class Cloche extends RunCalls {
  readonly #connection: DaemonConnection;
  readonly #env: ProcessEnvironment;

  constructor(options: ClocheOptions = {}) {
    const env = options.env ?? process.env;
    const found = placesFrom(env, options.home);
    const places: Places = options.cache === undefined ? found : { ...found, cache: resolve(options.cache) };
    const connection = new DaemonConnection({ places, env, program: options.daemonProgram });
    super({ home: places.home, connection, env });
    this.#connection = connection;
    this.#env = env;
  }

  /** Creates a workspace and gives its handle, whose disposal deletes it. */
  async workspace(options: CreateOptions = {}): Promise<WorkspaceHandle> {
    return await this.#handle(await this.createWorkspace(options), true);
  }

  /** The handle of a workspace that is there, by its id, its name or the first characters of its id. Its disposal leaves the workspace. */
  async open(workspaceId: string, options: CallOptions = {}): Promise<WorkspaceHandle> {
    return await this.#handle(await this.statusWorkspace(workspaceId, options), false);
  }

  async createWorkspace(options: CreateOptions = {}): Promise<Workspace> {
    const { signal, onProgress, ...input } = options;
    return await this.#connection.call("createWorkspace", onThisHost(input, this.#env), { signal, onProgress });
  }

  async listWorkspaces(options: CallOptions = {}): Promise<WorkspaceList> {
    return await this.#connection.call("listWorkspaces", {}, options);
  }

  async statusWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Workspace> {
    return await this.#ask("statusWorkspace", { workspace_id: workspaceId }, options);
  }

  async updateWorkspace(workspaceId: string, options: UpdateOptions): Promise<Workspace> {
    return await this.#ask("updateWorkspace", { workspace_id: workspaceId }, options);
  }

  async deleteWorkspace(workspaceId: string, options: CallOptions = {}): Promise<DeletedWorkspace> {
    return await this.#ask("deleteWorkspace", { workspace_id: workspaceId }, options);
  }

  /** Ends all that runs in it; `/workspace` stays. */
  async stopWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Workspace> {
    return await this.#ask("stopWorkspace", { workspace_id: workspaceId }, options);
  }

  async startWorkspace(workspaceId: string, options: LongCallOptions = {}): Promise<Workspace> {
    return await this.#ask("startWorkspace", { workspace_id: workspaceId }, options);
  }

  /** A new sandbox under the same id, with the files of the snapshot; without one, those of its creation. */
  async resetWorkspace(workspaceId: string, options: ResetOptions = {}): Promise<WorkspaceReset> {
    return await this.#ask("resetWorkspace", { workspace_id: workspaceId }, options);
  }

  /** A new workspace with the files of the snapshot; without one, with those of this moment. */
  async forkWorkspace(workspaceId: string, options: ForkOptions = {}): Promise<Workspace> {
    return await this.#ask("forkWorkspace", { workspace_id: workspaceId }, options);
  }

  /** What happened since it was created or last reset. */
  async summarizeWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Summary> {
    return await this.#ask("summarizeWorkspace", { workspace_id: workspaceId }, options);
  }

  /** Whether a request would pass, and by which rule: `GET` unless told, by the policy of a workspace or by one that is given. */
  async checkEgress(url: string, options: CheckEgressOptions): Promise<EgressCheck> {
    return await this.#ask(
      "checkEgress",
      { url, ...(options.egress && { egress: policyFrom(options.egress) }) },
      options,
    );
  }

  /** What a workspace has sent, and the smallest policy that covers it. */
  async learnEgress(workspaceId: string, options: CallOptions = {}): Promise<EgressLearned> {
    return await this.#ask("learnEgress", { workspace_id: workspaceId }, options);
  }

  /** Gives a workspace with a way out another policy, or its tokens anew; requests under way go on. */
  async setEgress(workspaceId: string, egress: EgressInput, options: SetEgressOptions = {}): Promise<EgressSet> {
    return await this.#ask(
      "setEgress",
      { workspace_id: workspaceId, ...policyInput(egress, this.#env, options) },
      options,
    );
  }

  /** Runs a command to its end: a string is a shell command, an array an argv. */
  async execWorkspace(workspaceId: string, options: ExecOptions): Promise<ExecResult> {
    return await this.#ask("execWorkspace", { workspace_id: workspaceId }, options);
  }

  /** The same as text while it comes; the last event is the exit. Leaving the loop ends the command. */
  streamWorkspace(workspaceId: string, options: StreamOptions): AsyncIterable<ExecEvent> {
    return { [Symbol.asyncIterator]: () => toExecEvents(() => this.openCommand(workspaceId, options)) };
  }

  /** The same byte for byte, with standard input and a terminal on request. */
  openCommand(workspaceId: string, options: OpenCommandOptions): CommandStream {
    const { signal, ...input } = options;
    return openCommandStream(this.#connection, { ...input, workspace_id: workspaceId }, signal);
  }

  /** Starts a command and does not wait for it: the journal has its output when it has ended, and what it printed so far. */
  async startCommand(workspaceId: string, options: ExecOptions): Promise<CommandStarted> {
    return await this.#ask("startCommand", { workspace_id: workspaceId }, options);
  }

  /** To a command that runs, by its sequence in the journal: `TERM` unless told. */
  async signalCommand(
    workspaceId: string,
    sequence: number,
    options: SignalCommandOptions = {},
  ): Promise<CommandSignalled> {
    const input = { workspace_id: workspaceId, sequence, signal: options.signal ?? "TERM" };
    return await this.#connection.call("signalCommand", input);
  }

  async logsWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Journal> {
    return await this.#ask("logsWorkspace", { workspace_id: workspaceId }, options);
  }

  async listWorkspaceFiles(workspaceId: string, options: ListFilesOptions = {}): Promise<FileList> {
    return await this.#ask("listWorkspaceFiles", { workspace_id: workspaceId }, options);
  }

  async readWorkspaceFile(workspaceId: string, path: string, options: ReadFileOptions = {}): Promise<FileContent> {
    return await this.#ask("readWorkspaceFile", { workspace_id: workspaceId, path }, options);
  }

  async writeWorkspaceFile(workspaceId: string, path: string, options: WriteFileOptions): Promise<FileWritten> {
    return await this.#ask("writeWorkspaceFile", { workspace_id: workspaceId, path }, options);
  }

  /** Applies a unified diff: all of it or nothing. */
  async applyWorkspacePatch(workspaceId: string, options: PatchOptions): Promise<PatchApplied> {
    return await this.#ask("applyWorkspacePatch", { workspace_id: workspaceId }, options);
  }

  async diffWorkspace(workspaceId: string, options: DiffOptions = {}): Promise<Diff> {
    return await this.#ask("diffWorkspace", { workspace_id: workspaceId }, options);
  }

  /** Copies a file or folder of the workspace to a new path on this host; with `overwrite` also in the place of a file. */
  async exportWorkspace(workspaceId: string, path: string, options: ExportOptions): Promise<Exported> {
    const output_path = resolveHostPath(options.output_path);
    return await this.#ask("exportWorkspace", { workspace_id: workspaceId, path, output_path }, options);
  }

  /** Copies the contents of a folder or archive of this host, or a file, into the workspace: all of it or nothing. */
  async pushWorkspaceSync(workspaceId: string, sourcePath: string, options: SyncOptions = {}): Promise<SyncPushed> {
    const source_path = resolveHostPath(sourcePath);
    return await this.#ask("pushWorkspaceSync", { workspace_id: workspaceId, source_path }, options);
  }

  /** Of a stopped workspace, as the two that follow. */
  async listWorkspaceDisk(workspaceId: string, options: ListFilesOptions = {}): Promise<FileList> {
    return await this.#ask("listWorkspaceDisk", { workspace_id: workspaceId }, options);
  }

  async readWorkspaceDisk(workspaceId: string, path: string, options: ReadFileOptions = {}): Promise<FileContent> {
    return await this.#ask("readWorkspaceDisk", { workspace_id: workspaceId, path }, options);
  }

  async exportWorkspaceDisk(workspaceId: string, options: DiskExportOptions): Promise<DiskExported> {
    const output_path = resolveHostPath(options.output_path);
    return await this.#ask("exportWorkspaceDisk", { workspace_id: workspaceId, output_path }, options);
  }

  /** Keeps the files of this moment under a name; what runs goes on. */
  async createSnapshot(
    workspaceId: string,
    snapshotName: string,
    options: SnapshotOptions = {},
  ): Promise<SnapshotMade> {
    const { live, ...rest } = options;
    return await this.#ask("createSnapshot", { workspace_id: workspaceId, snapshot_name: snapshotName, live }, rest);
  }

  async listSnapshots(workspaceId: string, options: CallOptions = {}): Promise<SnapshotList> {
    return await this.#ask("listSnapshots", { workspace_id: workspaceId }, options);
  }

  async deleteSnapshot(workspaceId: string, snapshotName: string, options: CallOptions = {}): Promise<SnapshotDeleted> {
    return await this.#ask("deleteSnapshot", { workspace_id: workspaceId, snapshot_name: snapshotName }, options);
  }

  /** Resolves when the service is ready; throws with its last lines when it does not get so. */
  async startService(workspaceId: string, serviceName: string, options: StartServiceOptions): Promise<Service> {
    return await this.#ask("startService", { workspace_id: workspaceId, service_name: serviceName }, options);
  }

  async listServices(workspaceId: string, options: CallOptions = {}): Promise<ServiceList> {
    return await this.#ask("listServices", { workspace_id: workspaceId }, options);
  }

  async statusService(workspaceId: string, serviceName: string, options: CallOptions = {}): Promise<Service> {
    return await this.#ask("statusService", { workspace_id: workspaceId, service_name: serviceName }, options);
  }

  async logsService(workspaceId: string, serviceName: string, options: ServiceLogsOptions = {}): Promise<ServiceLogs> {
    return await this.#ask("logsService", { workspace_id: workspaceId, service_name: serviceName }, options);
  }

  async stopService(workspaceId: string, serviceName: string, options: CallOptions = {}): Promise<Service> {
    return await this.#ask("stopService", { workspace_id: workspaceId, service_name: serviceName }, options);
  }

  /** Opens a terminal that stays open when its clients go. */
  async openShell(workspaceId: string, options: OpenShellOptions = {}): Promise<Shell> {
    return await this.#ask("openShell", { workspace_id: workspaceId }, options);
  }

  async listShells(workspaceId: string, options: CallOptions = {}): Promise<ShellList> {
    return await this.#ask("listShells", { workspace_id: workspaceId }, options);
  }

  async readShell(workspaceId: string, shellId: string, options: ReadShellOptions = {}): Promise<ShellOutput> {
    return await this.#ask("readShell", { workspace_id: workspaceId, shell_id: shellId }, options);
  }

  async writeShell(workspaceId: string, shellId: string, options: WriteShellOptions): Promise<ShellWritten> {
    return await this.#ask("writeShell", { workspace_id: workspaceId, shell_id: shellId }, options);
  }

  async signalShell(workspaceId: string, shellId: string, options: SignalShellOptions = {}): Promise<ShellSignalled> {
    const input = { workspace_id: workspaceId, shell_id: shellId, signal: options.signal };
    return await this.#ask("signalShell", input, {});
  }

  async resizeShell(workspaceId: string, shellId: string, options: ResizeShellOptions): Promise<Shell> {
    return await this.#ask("resizeShell", { workspace_id: workspaceId, shell_id: shellId }, options);
  }

  async closeShell(workspaceId: string, shellId: string, options: CallOptions = {}): Promise<ShellClosed> {
    return await this.#ask("closeShell", { workspace_id: workspaceId, shell_id: shellId }, options);
  }

  /** The shell byte for byte, both ways. */
  attachShell(workspaceId: string, shellId: string, options: AttachShellOptions): ShellStream {
    const { signal, ...input } = options;
    return openShellStream(this.#connection, { ...input, workspace_id: workspaceId, shell_id: shellId }, signal);
  }

  /** Creates a workspace, runs one command in it and deletes it, whatever happens. */
  async run(options: RunOptions): Promise<RunResult> {
    return await runToEnd(this, options);
  }

  /** `run` byte for byte. The stream's result comes after the workspace is deleted. */
  async openRun(options: OpenRunOptions): Promise<RunStream> {
    return await openRunStream(this, options);
  }

  async #handle(info: Workspace, isOwn: boolean): Promise<WorkspaceHandle> {
    // On demand: the command line starts sooner without.
    const { WorkspaceHandle } = await import("./workspace-handle.ts");
    return new WorkspaceHandle({ connection: this.#connection, info, isOwn });
  }

  /** One call: what the method takes by position, or works out itself, with the rest of its options. */
  async #ask<Name extends CallName, Given extends Partial<OperationInput<Name>>>(
    operation: Name,
    given: Given,
    options: Omit<OperationInput<Name>, keyof Given> & LongCallOptions,
  ): Promise<OperationResult<Name>> {
    return await ask(this.#connection, operation, given, options);
  }
}
