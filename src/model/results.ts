import type { Environment, EnvironmentDetail, EnvironmentList, EnvironmentsPruned } from "./environment.ts";
import type { ExecResult, Journal } from "./exec.ts";
import type { Diff, Exported, FileContent, FileList, FileWritten } from "./files.ts";
import type { DaemonStatus, Health } from "./health.ts";
import type { OperationName } from "./operations.ts";
import type { DeletedWorkspace, Workspace, WorkspaceList } from "./workspace.ts";

/** What each operation answers. Streams (`streamWorkspace`, `attachCommand`) answer frames and end with an exec result. */
export interface OperationResults {
  createWorkspace: Workspace;
  listWorkspaces: WorkspaceList;
  statusWorkspace: Workspace;
  updateWorkspace: Workspace;
  deleteWorkspace: DeletedWorkspace;
  execWorkspace: ExecResult;
  streamWorkspace: ExecResult;
  attachCommand: ExecResult;
  signalCommand: { workspace_id: string; sequence: number; signalled: boolean };
  resizeCommand: { workspace_id: string; sequence: number; resized: boolean };
  logsWorkspace: Journal;
  listWorkspaceFiles: FileList;
  readWorkspaceFile: FileContent;
  writeWorkspaceFile: FileWritten;
  diffWorkspace: Diff;
  exportWorkspace: Exported;
  listEnvironments: EnvironmentList;
  pullEnvironment: Environment;
  inspectEnvironment: EnvironmentDetail;
  pruneEnvironments: EnvironmentsPruned;
  doctor: Health;
  daemonStatus: DaemonStatus;
  stopDaemon: { stopped: boolean };
}

/** A line about long work, sent before the result. */
export interface Progress {
  step: string;
  /** 0 to 1 where it is known. */
  fraction?: number;
}

export type ReportProgress = (progress: Progress) => void;

type Missing = Exclude<OperationName, keyof OperationResults>;
/** Fails to compile when an operation has no result type. */
export const everyOperationHasAResult: Missing extends never ? true : Missing = true;
