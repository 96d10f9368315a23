import type { Environment, EnvironmentDetail, EnvironmentList, EnvironmentsPruned } from "./environment.ts";
import type { ExecResult, Journal } from "./exec.ts";
import type {
  Diff,
  DiskExported,
  Exported,
  FileContent,
  FileList,
  FileWritten,
  PatchApplied,
  SyncPushed,
} from "./files.ts";
import type { DaemonStatus, Health } from "./health.ts";
import type { OperationName } from "./operations.ts";
import type { Prepared } from "./prepared.ts";
import type { Service, ServiceList, ServiceLogs } from "./service.ts";
import type { Shell, ShellClosed, ShellOutput, ShellSignalled, ShellWritten } from "./shell.ts";
import type { SnapshotDeleted, SnapshotList, SnapshotMade, WorkspaceReset } from "./snapshot.ts";
import type { Summary } from "./summary.ts";
import type { DeletedWorkspace, Workspace, WorkspaceList } from "./workspace.ts";

/** What each operation answers. Streams (`streamWorkspace`, `attachCommand`) answer frames and end with an exec result. */
export interface OperationResults {
  createWorkspace: Workspace;
  listWorkspaces: WorkspaceList;
  statusWorkspace: Workspace;
  updateWorkspace: Workspace;
  deleteWorkspace: DeletedWorkspace;
  stopWorkspace: Workspace;
  startWorkspace: Workspace;
  summarizeWorkspace: Summary;
  execWorkspace: ExecResult;
  streamWorkspace: ExecResult;
  attachCommand: ExecResult;
  signalCommand: { workspace_id: string; sequence: number; signalled: boolean };
  resizeCommand: { workspace_id: string; sequence: number; resized: boolean };
  logsWorkspace: Journal;
  listWorkspaceFiles: FileList;
  readWorkspaceFile: FileContent;
  writeWorkspaceFile: FileWritten;
  applyWorkspacePatch: PatchApplied;
  diffWorkspace: Diff;
  exportWorkspace: Exported;
  pushWorkspaceSync: SyncPushed;
  listWorkspaceDisk: FileList;
  readWorkspaceDisk: FileContent;
  exportWorkspaceDisk: DiskExported;
  createSnapshot: SnapshotMade;
  listSnapshots: SnapshotList;
  deleteSnapshot: SnapshotDeleted;
  resetWorkspace: WorkspaceReset;
  forkWorkspace: Workspace;
  startService: Service;
  listServices: ServiceList;
  statusService: Service;
  logsService: ServiceLogs;
  stopService: Service;
  openShell: Shell;
  readShell: ShellOutput;
  writeShell: ShellWritten;
  signalShell: ShellSignalled;
  resizeShell: Shell;
  closeShell: ShellClosed;
  attachShell: Shell;
  listEnvironments: EnvironmentList;
  pullEnvironment: Environment;
  inspectEnvironment: EnvironmentDetail;
  pruneEnvironments: EnvironmentsPruned;
  prepare: Prepared;
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
