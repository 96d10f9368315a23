/**
 * The public names as data: what a user types, a program calls and an environment sets. A test compares the lists with the CLI's help, the
 * SDK's methods and the source, in both directions, so that no public name appears or disappears by accident.
 */
export interface ContractCommand {
  /** As in the usage line: `ID`, `[PATH]`, `[COMMAND…]`. */
  readonly positionals: readonly string[];
  /** Without those that every command takes. */
  readonly flags: readonly string[];
  /** Those that have to be given, as in the usage line. */
  readonly required?: readonly string[];
  /** Whether a command to run follows after `--`. */
  readonly command?: true;
}

/** Of `mcp serve`, and passed on to it by the commands about hosts. */
const SERVE_FLAGS = [
  "--profile",
  "--mode",
  "--project-path",
  "--repo-url",
  "--repo-ref",
  "--no-project-source",
  "--environment",
  "--backend",
  "--output-dir",
  "--allow-read",
  "--allow-write",
  "--allow-environment",
  "--allow-ignored",
  "--all-workspaces",
] as const;

/** Which ignored files come along. */
const INCLUDES = ["--include", "--include-ignored"] as const;
const SEED_INCLUDES = [...INCLUDES, "--no-include", "--remember"] as const;

export const CONTRACT_COMMANDS: Readonly<Record<string, ContractCommand>> = {
  run: {
    positionals: ["[ENVIRONMENT]"],
    flags: [
      "--backend",
      "--oci-runtime",
      "--network-policy",
      "--allow-host",
      "--timeout-seconds",
      "--seed-path",
      ...SEED_INCLUDES,
      "--vcpu-count",
      "--mem-mib",
      "--cwd",
      "--env",
      "--interactive",
      "--tty",
    ],
    command: true,
  },
  "workspace create": {
    positionals: ["[ENVIRONMENT]"],
    flags: [
      "--backend",
      "--oci-runtime",
      "--seed-path",
      ...SEED_INCLUDES,
      "--from-workspace",
      "--name",
      "--label",
      "--network-policy",
      "--allow-host",
      "--secret",
      "--secret-file",
      "--ttl-seconds",
      "--keep",
      "--vcpu-count",
      "--mem-mib",
      "--id-only",
    ],
  },
  events: { positionals: ["[ID|IDENTITY]"], flags: ["--follow", "--since", "--kind"] },
  "workspace list": { positionals: [], flags: ["--quiet"] },
  "workspace status": { positionals: ["ID"], flags: [] },
  "workspace update": {
    positionals: ["ID"],
    flags: ["--name", "--label", "--clear-label", "--ttl-seconds", "--keep", "--no-keep"],
  },
  "workspace delete": { positionals: ["[ID…]"], flags: ["--all", "--yes"] },
  "workspace exec": {
    positionals: ["ID"],
    flags: ["--cwd", "--env", "--secret-env", "--interactive", "--tty", "--detach", "--timeout-seconds"],
    command: true,
  },
  "workspace kill": { positionals: ["ID", "SEQUENCE"], flags: ["--signal"] },
  "workspace logs": { positionals: ["ID"], flags: [] },
  "workspace file list": { positionals: ["ID", "[PATH]"], flags: ["--recursive"] },
  "workspace file read": { positionals: ["ID", "PATH"], flags: ["--max-bytes", "--content-only"] },
  "workspace file write": { positionals: ["ID", "PATH"], flags: ["--text", "--text-file"] },
  "workspace diff": {
    positionals: ["ID"],
    flags: ["--path", "--since", "--stat", "--name-only", "--include-ignored"],
  },
  "workspace export": {
    positionals: ["ID", "PATH"],
    flags: ["--output", "--overwrite", "--links"],
    required: ["--output HOST_PATH"],
  },
  "workspace patch apply": { positionals: ["ID"], flags: ["--patch", "--patch-file"] },
  "workspace sync push": { positionals: ["ID", "HOST_PATH"], flags: [...INCLUDES, "--dest"] },
  "workspace cp": { positionals: ["SRC", "DEST"], flags: ["--overwrite", "--links", ...INCLUDES] },
  "workspace snapshot create": { positionals: ["ID", "NAME"], flags: ["--live"] },
  "workspace snapshot list": { positionals: ["ID"], flags: [] },
  "workspace snapshot delete": { positionals: ["ID", "NAME"], flags: [] },
  "workspace reset": { positionals: ["ID"], flags: ["--snapshot"] },
  "workspace fork": {
    positionals: ["ID"],
    flags: ["--snapshot", "--name", "--rebase", "--label", "--ttl-seconds", "--vcpu-count", "--mem-mib", "--id-only"],
  },
  "workspace service start": {
    positionals: ["ID", "NAME"],
    flags: [
      "--ready-file",
      "--ready-tcp",
      "--ready-http",
      "--ready-command",
      "--ready-timeout-seconds",
      "--publish",
      "--secret-env",
    ],
    command: true,
  },
  "workspace service list": { positionals: ["ID"], flags: [] },
  "workspace service status": { positionals: ["ID", "NAME"], flags: [] },
  "workspace service logs": { positionals: ["ID", "NAME"], flags: ["--tail-lines", "--all"] },
  "workspace service stop": { positionals: ["ID", "NAME"], flags: [] },
  "workspace shell list": { positionals: ["ID"], flags: [] },
  "workspace shell open": { positionals: ["ID"], flags: ["--cwd", "--cols", "--rows", "--secret-env", "--id-only"] },
  "workspace shell read": {
    positionals: ["ID", "SHELL"],
    flags: ["--cursor", "--max-chars", "--plain", "--wait-for-idle-ms"],
  },
  "workspace shell write": {
    positionals: ["ID", "SHELL"],
    flags: ["--input", "--no-newline"],
    required: ["--input TEXT"],
  },
  "workspace shell signal": { positionals: ["ID", "SHELL"], flags: ["--signal"] },
  "workspace shell resize": {
    positionals: ["ID", "SHELL"],
    flags: ["--cols", "--rows"],
    required: ["--cols N", "--rows N"],
  },
  "workspace shell close": { positionals: ["ID", "SHELL"], flags: [] },
  "workspace shell attach": { positionals: ["ID", "[SHELL]"], flags: [] },
  "workspace summary": { positionals: ["ID"], flags: [] },
  "workspace stop": { positionals: ["ID"], flags: [] },
  "workspace start": { positionals: ["ID"], flags: [] },
  "workspace disk export": {
    positionals: ["ID"],
    flags: ["--output", "--format"],
    required: ["--output HOST_PATH"],
  },
  "workspace disk list": { positionals: ["ID", "[PATH]"], flags: ["--recursive"] },
  "workspace disk read": { positionals: ["ID", "PATH"], flags: ["--max-bytes", "--content-only"] },
  "env list": { positionals: [], flags: [] },
  "env pull": { positionals: ["ENVIRONMENT"], flags: ["--build-network"] },
  "env inspect": { positionals: ["ENVIRONMENT"], flags: [] },
  "env prune": { positionals: ["[ENVIRONMENT…]"], flags: ["--dry-run"] },
  prepare: { positionals: ["[ENVIRONMENT]"], flags: ["--backend", "--oci-runtime"] },
  doctor: { positionals: [], flags: [] },
  "mcp serve": { positionals: [], flags: SERVE_FLAGS },
  "mcp token": { positionals: [], flags: ["--config", "--rotate", "--revoke"] },
  "host connect": { positionals: ["HOST"], flags: SERVE_FLAGS },
  "host print-config": { positionals: ["HOST"], flags: SERVE_FLAGS },
  "host doctor": { positionals: [], flags: [] },
  "host repair": { positionals: ["HOST"], flags: SERVE_FLAGS },
  "daemon status": { positionals: [], flags: [] },
  "daemon stop": { positionals: [], flags: [] },
  demo: { positionals: [], flags: ["--environment", "--backend"] },
  completion: { positionals: ["SHELL"], flags: [] },
  help: { positionals: ["[COMMAND…]"], flags: [] },
};

export const CONTRACT_GROUPS = [
  "workspace",
  "workspace file",
  "workspace patch",
  "workspace sync",
  "workspace snapshot",
  "workspace service",
  "workspace shell",
  "workspace disk",
  "env",
  "mcp",
  "host",
  "daemon",
] as const;
export const CONTRACT_ALIASES = { ws: "workspace" } as const;
/** Taken by every command. */
export const CONTRACT_GLOBAL_FLAGS = ["--json", "--verbose", "--help"] as const;

/** The methods of `Cloche`. */
export const CONTRACT_SDK_METHODS = [
  "workspace",
  "open",
  "createWorkspace",
  "listWorkspaces",
  "statusWorkspace",
  "updateWorkspace",
  "deleteWorkspace",
  "execWorkspace",
  "streamWorkspace",
  "openCommand",
  "startCommand",
  "signalCommand",
  "logsWorkspace",
  "listWorkspaceFiles",
  "readWorkspaceFile",
  "writeWorkspaceFile",
  "diffWorkspace",
  "exportWorkspace",
  "applyWorkspacePatch",
  "pushWorkspaceSync",
  "createSnapshot",
  "listSnapshots",
  "deleteSnapshot",
  "resetWorkspace",
  "forkWorkspace",
  "startService",
  "listServices",
  "statusService",
  "logsService",
  "stopService",
  "listShells",
  "openShell",
  "readShell",
  "writeShell",
  "signalShell",
  "resizeShell",
  "closeShell",
  "attachShell",
  "summarizeWorkspace",
  "stopWorkspace",
  "startWorkspace",
  "exportWorkspaceDisk",
  "listWorkspaceDisk",
  "readWorkspaceDisk",
  "run",
  "openRun",
  "watch",
  "listEnvironments",
  "pullEnvironment",
  "inspectEnvironment",
  "pruneEnvironments",
  "prepare",
  "doctor",
  "daemonStatus",
  "mcpToken",
  "stopDaemon",
  "close",
] as const;

/** Variables of the host's environment that change what cloche does. */
export const CONTRACT_VARIABLES = [
  "CLOCHE_HOME",
  "CLOCHE_CACHE",
  "CLOCHE_BACKEND",
  "CLOCHE_OCI_RUNTIME",
  "CLOCHE_VM_KERNEL",
  "CLOCHE_LOG",
] as const;

/** What the program exits with, besides a command's own code and 128+n for a signal. */
export const CONTRACT_EXIT_CODES = { done: 0, failed: 1, usage: 2, sandbox_failed: 125 } as const;

/** The tools of the MCP server's `workspace-full`; the other profiles and the modes have some of them. */
export const CONTRACT_MCP_TOOLS = [
  "vm_run",
  "workspace_create",
  "workspace_list",
  "workspace_update",
  "workspace_status",
  "workspace_exec",
  "workspace_logs",
  "workspace_file_list",
  "workspace_file_read",
  "workspace_file_write",
  "workspace_patch_apply",
  "workspace_sync_push",
  "workspace_diff",
  "workspace_export",
  "workspace_reset",
  "workspace_summary",
  "workspace_delete",
  "workspace_fork",
  "workspace_stop",
  "workspace_start",
  "workspace_disk_export",
  "workspace_disk_list",
  "workspace_disk_read",
  "snapshot_create",
  "snapshot_list",
  "snapshot_delete",
  "service_start",
  "service_list",
  "service_status",
  "service_logs",
  "service_stop",
  "shell_list",
  "shell_open",
  "shell_read",
  "shell_write",
  "shell_signal",
  "shell_resize",
  "shell_close",
] as const;
export const CONTRACT_MCP_PROFILES = ["vm-run", "workspace-core", "workspace-full"] as const;
export const CONTRACT_MCP_MODES = ["repro-fix", "inspect", "cold-start", "review-eval"] as const;
