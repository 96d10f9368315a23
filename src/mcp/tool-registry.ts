import type { ToolName } from "./profiles.ts";
import type { Tool } from "./tool.ts";
import { tool as serviceList } from "./tools/service-list.ts";
import { tool as serviceLogs } from "./tools/service-logs.ts";
import { tool as serviceStart } from "./tools/service-start.ts";
import { tool as serviceStatus } from "./tools/service-status.ts";
import { tool as serviceStop } from "./tools/service-stop.ts";
import { tool as shellClose } from "./tools/shell-close.ts";
import { tool as shellList } from "./tools/shell-list.ts";
import { tool as shellOpen } from "./tools/shell-open.ts";
import { tool as shellRead } from "./tools/shell-read.ts";
import { tool as shellResize } from "./tools/shell-resize.ts";
import { tool as shellSignal } from "./tools/shell-signal.ts";
import { tool as shellWrite } from "./tools/shell-write.ts";
import { tool as snapshotCreate } from "./tools/snapshot-create.ts";
import { tool as snapshotDelete } from "./tools/snapshot-delete.ts";
import { tool as snapshotList } from "./tools/snapshot-list.ts";
import { tool as vmRun } from "./tools/vm-run.ts";
import { tool as workspaceCreate } from "./tools/workspace-create.ts";
import { tool as workspaceDelete } from "./tools/workspace-delete.ts";
import { tool as workspaceDiff } from "./tools/workspace-diff.ts";
import { tool as workspaceDiskExport } from "./tools/workspace-disk-export.ts";
import { tool as workspaceDiskList } from "./tools/workspace-disk-list.ts";
import { tool as workspaceDiskRead } from "./tools/workspace-disk-read.ts";
import { tool as workspaceExec } from "./tools/workspace-exec.ts";
import { tool as workspaceExport } from "./tools/workspace-export.ts";
import { tool as workspaceFileList } from "./tools/workspace-file-list.ts";
import { tool as workspaceFileRead } from "./tools/workspace-file-read.ts";
import { tool as workspaceFileWrite } from "./tools/workspace-file-write.ts";
import { tool as workspaceFork } from "./tools/workspace-fork.ts";
import { tool as workspaceList } from "./tools/workspace-list.ts";
import { tool as workspaceLogs } from "./tools/workspace-logs.ts";
import { tool as workspacePatchApply } from "./tools/workspace-patch-apply.ts";
import { tool as workspaceReset } from "./tools/workspace-reset.ts";
import { tool as workspaceStart } from "./tools/workspace-start.ts";
import { tool as workspaceStatus } from "./tools/workspace-status.ts";
import { tool as workspaceStop } from "./tools/workspace-stop.ts";
import { tool as workspaceSummary } from "./tools/workspace-summary.ts";
import { tool as workspaceSyncPush } from "./tools/workspace-sync-push.ts";
import { tool as workspaceUpdate } from "./tools/workspace-update.ts";

/** Every tool there is, by its name. */
export const TOOLS: Readonly<Record<ToolName, Tool>> = {
  service_list: serviceList,
  service_logs: serviceLogs,
  service_start: serviceStart,
  service_status: serviceStatus,
  service_stop: serviceStop,
  shell_close: shellClose,
  shell_list: shellList,
  shell_open: shellOpen,
  shell_read: shellRead,
  shell_resize: shellResize,
  shell_signal: shellSignal,
  shell_write: shellWrite,
  snapshot_create: snapshotCreate,
  snapshot_delete: snapshotDelete,
  snapshot_list: snapshotList,
  vm_run: vmRun,
  workspace_create: workspaceCreate,
  workspace_delete: workspaceDelete,
  workspace_diff: workspaceDiff,
  workspace_disk_export: workspaceDiskExport,
  workspace_disk_list: workspaceDiskList,
  workspace_disk_read: workspaceDiskRead,
  workspace_exec: workspaceExec,
  workspace_export: workspaceExport,
  workspace_file_list: workspaceFileList,
  workspace_file_read: workspaceFileRead,
  workspace_file_write: workspaceFileWrite,
  workspace_fork: workspaceFork,
  workspace_list: workspaceList,
  workspace_logs: workspaceLogs,
  workspace_patch_apply: workspacePatchApply,
  workspace_reset: workspaceReset,
  workspace_start: workspaceStart,
  workspace_status: workspaceStatus,
  workspace_stop: workspaceStop,
  workspace_summary: workspaceSummary,
  workspace_sync_push: workspaceSyncPush,
  workspace_update: workspaceUpdate,
};
