import { resolve } from "node:path";
import { daemonSocket, placesFrom, type Places } from "../base/paths.ts";
import type { Environment, EnvironmentDetail, EnvironmentList, EnvironmentsPruned } from "../model/environment.ts";
import type { ExecEvent, ExecResult, Journal } from "../model/exec.ts";
import type { Diff, Exported, FileContent, FileList, FileWritten } from "../model/files.ts";
import type { DaemonStatus, Health } from "../model/health.ts";
import type { OperationInput } from "../model/operations.ts";
import type { DeletedWorkspace, Workspace, WorkspaceList } from "../model/workspace.ts";
import { openCommandStream } from "./command-stream.ts";
import { DaemonConnection } from "./connection.ts";
import { toExecEvents } from "./exec-events.ts";
import type {
  CallOptions,
  ClocheOptions,
  CommandStream,
  CreateOptions,
  ExecOptions,
  ExportOptions,
  ListFilesOptions,
  LongCallOptions,
  OpenCommandOptions,
  OpenRunOptions,
  ReadFileOptions,
  RunOptions,
  StreamOptions,
  UpdateOptions,
  WriteFileOptions,
} from "./options.ts";
import { openRunStream, runToEnd } from "./run-workspace.ts";

/**
 * The client of one installation. It starts the daemon when it needs one. Methods answer the objects of the wire; what fails throws a
 * `ClocheError` with `code` and `hint`. Host paths are relative to the current folder of this process.
 */
export class Cloche implements AsyncDisposable {
  readonly home: string;
  readonly #connection: DaemonConnection;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(options: ClocheOptions = {}) {
    this.#env = options.env ?? process.env;
    const found = placesFrom(this.#env, options.home);
    const places: Places = options.cache === undefined ? found : { ...found, cache: resolve(options.cache) };
    this.home = places.home;
    this.#connection = new DaemonConnection({ places, env: this.#env, program: options.daemonProgram });
  }

  async createWorkspace(options: CreateOptions = {}): Promise<Workspace> {
    const { signal, onProgress, ...input } = options;
    return await this.#connection.call("createWorkspace", this.#onThisHost(input), { signal, onProgress });
  }

  async listWorkspaces(options: CallOptions = {}): Promise<WorkspaceList> {
    return await this.#connection.call("listWorkspaces", {}, options);
  }

  async statusWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Workspace> {
    return await this.#connection.call("statusWorkspace", { workspace_id: workspaceId }, options);
  }

  async updateWorkspace(workspaceId: string, options: UpdateOptions): Promise<Workspace> {
    const { signal, ...input } = options;
    return await this.#connection.call("updateWorkspace", { ...input, workspace_id: workspaceId }, { signal });
  }

  async deleteWorkspace(workspaceId: string, options: CallOptions = {}): Promise<DeletedWorkspace> {
    return await this.#connection.call("deleteWorkspace", { workspace_id: workspaceId }, options);
  }

  /** Runs a command to its end: a string is a shell command, an array an argv. */
  async execWorkspace(workspaceId: string, options: ExecOptions): Promise<ExecResult> {
    const { signal, ...input } = options;
    return await this.#connection.call("execWorkspace", { ...input, workspace_id: workspaceId }, { signal });
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

  async logsWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Journal> {
    return await this.#connection.call("logsWorkspace", { workspace_id: workspaceId }, options);
  }

  async listWorkspaceFiles(workspaceId: string, options: ListFilesOptions = {}): Promise<FileList> {
    const { signal, ...input } = options;
    return await this.#connection.call("listWorkspaceFiles", { ...input, workspace_id: workspaceId }, { signal });
  }

  async readWorkspaceFile(workspaceId: string, path: string, options: ReadFileOptions = {}): Promise<FileContent> {
    const { signal, ...input } = options;
    return await this.#connection.call("readWorkspaceFile", { ...input, workspace_id: workspaceId, path }, { signal });
  }

  async writeWorkspaceFile(workspaceId: string, path: string, options: WriteFileOptions): Promise<FileWritten> {
    const { signal, ...input } = options;
    return await this.#connection.call("writeWorkspaceFile", { ...input, workspace_id: workspaceId, path }, { signal });
  }

  async diffWorkspace(workspaceId: string, options: CallOptions = {}): Promise<Diff> {
    return await this.#connection.call("diffWorkspace", { workspace_id: workspaceId }, options);
  }

  /** Copies a file or folder of the workspace to a new path on this host. */
  async exportWorkspace(workspaceId: string, path: string, options: ExportOptions): Promise<Exported> {
    const { signal, output_path } = options;
    const input = { workspace_id: workspaceId, path, output_path: resolve(output_path) };
    return await this.#connection.call("exportWorkspace", input, { signal });
  }

  /** Creates a workspace, runs one command in it and deletes it, whatever happens. */
  async run(options: RunOptions): Promise<ExecResult> {
    return await runToEnd(this, options);
  }

  /** `run` byte for byte. The stream's result comes after the workspace is deleted. */
  async openRun(options: OpenRunOptions): Promise<CommandStream> {
    return await openRunStream(this, options);
  }

  async listEnvironments(options: CallOptions = {}): Promise<EnvironmentList> {
    return await this.#connection.call("listEnvironments", {}, options);
  }

  async pullEnvironment(environment: string, options: LongCallOptions = {}): Promise<Environment> {
    return await this.#connection.call("pullEnvironment", { environment }, options);
  }

  async inspectEnvironment(environment: string, options: CallOptions = {}): Promise<EnvironmentDetail> {
    return await this.#connection.call("inspectEnvironment", { environment }, options);
  }

  async pruneEnvironments(options: CallOptions = {}): Promise<EnvironmentsPruned> {
    return await this.#connection.call("pruneEnvironments", {}, options);
  }

  async doctor(options: CallOptions = {}): Promise<Health> {
    return await this.#connection.call(
      "doctor",
      { oci_runtime: this.#env["CLOCHE_OCI_RUNTIME"] || undefined },
      options,
    );
  }

  /** Never starts a daemon. */
  async daemonStatus(options: CallOptions = {}): Promise<DaemonStatus> {
    const status = await this.#connection.callRunning("daemonStatus", {}, options);
    return status ?? { running: false, socket: daemonSocket(this.home), ...NOT_RUNNING };
  }

  /** Ends the daemon; sandboxes go on. When it returns, another one can start. */
  async stopDaemon(options: CallOptions = {}): Promise<{ stopped: boolean }> {
    return (await this.#connection.callRunning("stopDaemon", {}, options)) ?? { stopped: false };
  }

  /** Closes the connections to the daemon. Commands that this client still streams are ended. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Adds what only this side knows: its environment, and the folder that relative paths start from. */
  #onThisHost(input: OperationInput<"createWorkspace">): OperationInput<"createWorkspace"> {
    return {
      ...input,
      backend: input.backend ?? (this.#env["CLOCHE_BACKEND"] || undefined),
      oci_runtime: input.oci_runtime ?? (this.#env["CLOCHE_OCI_RUNTIME"] || undefined),
      // An empty path is a variable that was not set, not the folder we happen to be in: the daemon refuses it.
      seed_path: input.seed_path && resolve(input.seed_path),
    };
  }
}

const NOT_RUNNING = { pid: null, version: null, mcp_url: null, started_at: null, workspace_count: null } as const;
