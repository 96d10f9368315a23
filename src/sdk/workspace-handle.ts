import { parseDuration } from "../base/duration.ts";
import { failure } from "../model/error-codes.ts";
import type { Command, CommandSignalled, CommandStarted, ExecEvent, ExecResult, Journal } from "../model/exec.ts";
import type { Diff, Exported, PatchApplied, SyncPushed } from "../model/files.ts";
import type { ShellList } from "../model/shell.ts";
import type { SnapshotMade, WorkspaceReset } from "../model/snapshot.ts";
import type { EgressInput } from "../model/egress.ts";
import type { EgressLearned, EgressSet } from "../model/egress-seen.ts";
import type { Summary } from "../model/summary.ts";
import type { DeletedWorkspace, Workspace } from "../model/workspace.ts";
import { openCommandStream } from "./command-stream.ts";
import type { DaemonConnection } from "./connection.ts";
import { followExec, toExecEvents } from "./exec-events.ts";
import { policyInput, resolveHostPath } from "./on-this-host.ts";
import type {
  CallOptions,
  CommandStream,
  DiffOptions,
  ExecCallbacks,
  ExecOptions,
  ExportOptions,
  ForkOptions,
  LongCallOptions,
  MapOptions,
  MapTask,
  OpenCommandOptions,
  OpenShellOptions,
  PatchOptions,
  ResetOptions,
  SignalCommandOptions,
  SnapshotOptions,
  StartServiceOptions,
  StreamOptions,
  SyncOptions,
  UpdateOptions,
  SetEgressOptions,
} from "./options.ts";
import { ServiceHandle, WorkspaceServices } from "./service-handle.ts";
import { ShellHandle } from "./shell-handle.ts";
import { toOptions } from "./to-options.ts";
import { unlessGone } from "./unless-gone.ts";
import { WorkspaceCalls } from "./workspace-calls.ts";
import { WorkspaceDisk, WorkspaceFiles, WorkspaceSnapshots } from "./workspace-parts.ts";
import { WorkspacePorts } from "./workspace-ports.ts";

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
  readonly ports: WorkspacePorts;
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
    this.ports = new WorkspacePorts(this.#calls);
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

  /** Moves the expiry: from now on it expires this long after its last activity, which this is. Seconds, or as `"90s"`, `"10m"`, `"2h"`, `"1d"`. */
  async extend(duration: number | string, options: CallOptions = {}): Promise<Workspace> {
    const ttl_seconds = typeof duration === "number" ? duration : parseDuration(duration);
    if (ttl_seconds === undefined) {
      throw failure("INVALID_ARGUMENT", `"${duration}" is no duration`, {
        hint: "Give seconds as a number, or a text such as 90s, 10m or 2h",
      });
    }
    return await this.update({ ...options, ttl_seconds });
  }

  /** Runs a command to its end: a string is a shell command, an array an argv. */
  async exec(
    command: Command | (ExecOptions & ExecCallbacks),
    options: Omit<ExecOptions, "command"> & ExecCallbacks = {},
  ): Promise<ExecResult> {
    const whole = toOptions<ExecOptions & ExecCallbacks, "command">("command", command, options);
    const { onStdout, onStderr, ...input } = whole;
    if (onStdout === undefined && onStderr === undefined) return await this.#calls.ask("execWorkspace", {}, input);
    return await followExec(() => this.command(input), { onStdout, onStderr });
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

  /** Starts a command and does not wait for it: the journal has what it has printed so far, and in the end its result. */
  async startCommand(
    command: Command | ExecOptions,
    options: Omit<ExecOptions, "command"> = {},
  ): Promise<CommandStarted> {
    return await this.#calls.ask("startCommand", {}, toOptions<ExecOptions, "command">("command", command, options));
  }

  /** To a command that runs, by its sequence in the journal: `TERM` unless told. */
  async signalCommand(sequence: number, options: SignalCommandOptions = {}): Promise<CommandSignalled> {
    const { connection, workspaceId: workspace_id } = this.#calls;
    return await connection.call("signalCommand", { workspace_id, sequence, signal: options.signal ?? "TERM" });
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

  /** Copies the contents of a folder or archive of this host, or a file, into the workspace: all of it or nothing. */
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

  /**
   * Does each task in a fork of its own, which is deleted afterwards, and gives the results in the order of the tasks. The first error stops the
   * others and is thrown when nothing is left of them; to go on after an error, catch it in `work`.
   */
  async map<Task, Result>(
    tasks: Iterable<Task>,
    work: (fork: WorkspaceHandle, task: Task, at: MapTask) => Promise<Result> | Result,
    options: MapOptions = {},
  ): Promise<Result[]> {
    const { mapForks } = await import("./map-forks.ts"); // on demand, as few programs use it
    return await mapForks({ tasks, work, fork: (asked) => this.fork(asked) }, options);
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

  /** Opens a terminal that stays open when its clients go. */
  async shell(options: OpenShellOptions = {}): Promise<ShellHandle> {
    return new ShellHandle(this.#calls, await this.#calls.ask("openShell", {}, options));
  }

  /** The terminals that there are. */
  async listShells(options: CallOptions = {}): Promise<ShellList> {
    return await this.#calls.ask("listShells", {}, options);
  }

  /** What happened since it was created or last reset. */
  async summary(options: CallOptions = {}): Promise<Summary> {
    return await this.#calls.ask("summarizeWorkspace", {}, options);
  }

  /** What it has sent, and the smallest policy that covers it. */
  async learnEgress(options: CallOptions = {}): Promise<EgressLearned> {
    return await this.#calls.ask("learnEgress", {}, options);
  }

  /** Another policy for what may leave, or its tokens anew. */
  async setEgress(egress: EgressInput, options: SetEgressOptions = {}): Promise<EgressSet> {
    return await this.#calls.ask("setEgress", policyInput(egress, this.#calls.connection.env, options), options);
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

  /** Harmless when it is gone already. Throws when it could not be deleted; it then goes when its time to live is over. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwn && !this.#isDeleted) await unlessGone(["WORKSPACE_NOT_FOUND"], () => this.delete());
  }
}
