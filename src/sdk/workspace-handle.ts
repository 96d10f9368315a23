import type { Command, ExecEvent, ExecResult, Journal } from "../model/exec.ts";
import type { Diff, Exported, PatchApplied, SyncPushed } from "../model/files.ts";
import type { SnapshotMade, WorkspaceReset } from "../model/snapshot.ts";
import type { Summary } from "../model/summary.ts";
import type { DeletedWorkspace, Workspace } from "../model/workspace.ts";
import { openCommandStream } from "./command-stream.ts";
import type { DaemonConnection } from "./connection.ts";
import { toExecEvents } from "./exec-events.ts";
import { resolveHostPath } from "./on-this-host.ts";
import type {
  CallOptions,
  CommandStream,
  DiffOptions,
  ExecOptions,
  ExportOptions,
  ForkOptions,
  LongCallOptions,
  OpenCommandOptions,
  OpenShellOptions,
  PatchOptions,
  ResetOptions,
  SnapshotOptions,
  StartServiceOptions,
  StreamOptions,
  SyncOptions,
  UpdateOptions,
} from "./options.ts";
import { ServiceHandle, WorkspaceServices } from "./service-handle.ts";
import { ShellHandle } from "./shell-handle.ts";
import { toOptions } from "./to-options.ts";
import { unlessGone } from "./unless-gone.ts";
import { WorkspaceCalls } from "./workspace-calls.ts";
import { WorkspaceDisk, WorkspaceFiles, WorkspaceSnapshots } from "./workspace-parts.ts";

interface WorkspaceParts {
  readonly connection: DaemonConnection;
  readonly info: Workspace;
  /** Whether it was made for this handle. */
  readonly isOwn: boolean;
}

/**
 * One workspace. `await using` deletes one that `cloche.workspace()` or `fork()` has made, and leaves one that `cloche.open()` found. The methods take and
 * answer what the client's flat methods do, without the id.
 */
export class WorkspaceHandle implements AsyncDisposable {
  readonly id: string;
  readonly files: WorkspaceFiles;
  readonly snapshots: WorkspaceSnapshots;
  readonly services: WorkspaceServices;
  readonly disk: WorkspaceDisk;
  readonly #calls: WorkspaceCalls;
  readonly #isOwn: boolean;
  #info: Workspace;
  #isDeleted = false;

  /** @internal */
  constructor({ connection, info, isOwn }: WorkspaceParts) {
    this.id = info.workspace_id;
    this.#info = info;
    this.#isOwn = isOwn;
    this.#calls = new WorkspaceCalls(connection, this.id);
    this.files = new WorkspaceFiles(this.#calls);
    this.snapshots = new WorkspaceSnapshots(this.#calls);
    this.services = new WorkspaceServices(this.#calls);
    this.disk = new WorkspaceDisk(this.#calls);
  }

  /** As it was last seen; `status` looks again. */
  get info(): Workspace {
    return this.#info;
  }

  async status(options: CallOptions = {}): Promise<Workspace> {
    return (this.#info = await this.#calls.ask("statusWorkspace", {}, options));
  }

  async update(options: UpdateOptions): Promise<Workspace> {
    return (this.#info = await this.#calls.ask("updateWorkspace", {}, options));
  }

  /** Runs a command to its end: a string is a shell command, an array an argv. */
  async exec(command: Command | ExecOptions, options: Omit<ExecOptions, "command"> = {}): Promise<ExecResult> {
    return await this.#calls.ask("execWorkspace", {}, toOptions<ExecOptions, "command">("command", command, options));
  }

  /** The same as text while it comes; the last event is the exit. Leaving the loop ends the command. */
  stream(command: Command | StreamOptions, options: Omit<StreamOptions, "command"> = {}): AsyncIterable<ExecEvent> {
    return { [Symbol.asyncIterator]: () => toExecEvents(() => this.command(command, options)) };
  }

  /** The same byte for byte, with standard input and a terminal on request. */
  command(command: Command | OpenCommandOptions, options: Omit<OpenCommandOptions, "command"> = {}): CommandStream {
    const { signal, ...input } = toOptions<OpenCommandOptions, "command">("command", command, options);
    return openCommandStream(this.#calls.connection, { ...input, workspace_id: this.id }, signal);
  }

  /** What ran in it. */
  async logs(options: CallOptions = {}): Promise<Journal> {
    return await this.#calls.ask("logsWorkspace", {}, options);
  }

  /** Applies a unified diff: all of it or nothing. */
  async patch(patch: string | PatchOptions, options: Omit<PatchOptions, "patch"> = {}): Promise<PatchApplied> {
    return await this.#calls.ask("applyWorkspacePatch", {}, toOptions<PatchOptions, "patch">("patch", patch, options));
  }

  /** What has changed since it was created, or since a snapshot. */
  async diff(options: DiffOptions = {}): Promise<Diff> {
    return await this.#calls.ask("diffWorkspace", {}, options);
  }

  /** Copies a file or folder of the workspace to a new path on this host. */
  async export(
    path: string,
    outputPath: string | ExportOptions,
    options: Omit<ExportOptions, "output_path"> = {},
  ): Promise<Exported> {
    const { output_path, ...rest } = toOptions<ExportOptions, "output_path">("output_path", outputPath, options);
    return await this.#calls.ask("exportWorkspace", { path, output_path: resolveHostPath(output_path) }, rest);
  }

  /** Copies the contents of a folder or archive of this host into the workspace: all of it or nothing. */
  async sync(sourcePath: string, options: SyncOptions = {}): Promise<SyncPushed> {
    return await this.#calls.ask("pushWorkspaceSync", { source_path: resolveHostPath(sourcePath) }, options);
  }

  /** Keeps the files of this moment under a name; what runs goes on. */
  async snapshot(name: string, options: SnapshotOptions = {}): Promise<SnapshotMade> {
    return await this.#calls.ask("createSnapshot", { snapshot_name: name }, options);
  }

  /** A new sandbox under the same id, with the files of the snapshot; without one, those of its creation. */
  async reset(options: ResetOptions = {}): Promise<WorkspaceReset> {
    return await this.#calls.ask("resetWorkspace", {}, options);
  }

  /** A new workspace with the files of the snapshot; without one, with those of this moment. */
  async fork(options: ForkOptions = {}): Promise<WorkspaceHandle> {
    const info = await this.#calls.ask("forkWorkspace", {}, options);
    return new WorkspaceHandle({ connection: this.#calls.connection, info, isOwn: true });
  }

  /** Starts a service. Resolves when it is ready; throws with its last lines when it does not get so. */
  async service(
    name: string,
    command: Command | StartServiceOptions,
    options: Omit<StartServiceOptions, "command"> = {},
  ): Promise<ServiceHandle> {
    const whole = toOptions<StartServiceOptions, "command">("command", command, options);
    const info = await this.#calls.ask("startService", { service_name: name }, whole);
    return new ServiceHandle({ calls: this.#calls, info, isOwn: true });
  }

  /** Opens a terminal that stays, whoever is connected. */
  async shell(options: OpenShellOptions = {}): Promise<ShellHandle> {
    return new ShellHandle(this.#calls, await this.#calls.ask("openShell", {}, options));
  }

  /** What happened since it was created or last reset. */
  async summary(options: CallOptions = {}): Promise<Summary> {
    return await this.#calls.ask("summarizeWorkspace", {}, options);
  }

  /** Ends all that runs in it; `/workspace` stays. */
  async stop(options: CallOptions = {}): Promise<Workspace> {
    return (this.#info = await this.#calls.ask("stopWorkspace", {}, options));
  }

  async start(options: LongCallOptions = {}): Promise<Workspace> {
    return (this.#info = await this.#calls.ask("startWorkspace", {}, options));
  }

  async delete(options: CallOptions = {}): Promise<DeletedWorkspace> {
    const deleted = await this.#calls.ask("deleteWorkspace", {}, options);
    this.#isDeleted = true;
    return deleted;
  }

  /** Harmless when it is gone already, whoever deleted it. Throws when it could not be deleted: it is then left to its time to live. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwn && !this.#isDeleted) await unlessGone(["WORKSPACE_NOT_FOUND"], () => this.delete());
  }
}
