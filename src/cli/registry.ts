import type { Command, CommandEntry, CommandTree } from "./command.ts";

const groups: CommandTree["groups"] = [
  { words: ["workspace"], summary: "Work in isolated workspaces", alias: "ws" },
  { words: ["workspace", "file"], summary: "List, read and write files of a workspace" },
  { words: ["workspace", "patch"], summary: "Change files with patches" },
  { words: ["workspace", "sync"], summary: "Bring files of the host into a workspace" },
  { words: ["workspace", "snapshot"], summary: "Keep states of a workspace to go back to" },
  { words: ["workspace", "service"], summary: "Run servers and other programs in the background" },
  { words: ["workspace", "shell"], summary: "Use terminals that stay open" },
  { words: ["workspace", "disk"], summary: "Read the files of a stopped workspace" },
  { words: ["egress"], summary: "See and decide what leaves a workspace" },
  { words: ["env"], summary: "Manage the environments that workspaces start from" },
  { words: ["mcp"], summary: "Serve workspaces over the Model Context Protocol" },
  { words: ["host"], summary: "Connect coding agents and editors to cloche" },
  { words: ["daemon"], summary: "Look at or stop the background process" },
];

const entry = (words: string, summary: string, load: () => Promise<{ command: Command }>): CommandEntry => ({
  words: words.split(" "),
  summary,
  load: async () => (await load()).command,
});

const commands: readonly CommandEntry[] = [
  entry("run", "Run one command in a fresh workspace, then delete it", () => import("./commands/run.ts")),
  entry("workspace create", "Create a workspace", () => import("./commands/workspace-create.ts")),
  entry("workspace list", "List the workspaces, newest activity first", () => import("./commands/workspace-list.ts")),
  entry("workspace status", "Show one workspace", () => import("./commands/workspace-status.ts")),
  entry(
    "workspace update",
    "Change a workspace's name, labels and time to live",
    () => import("./commands/workspace-update.ts"),
  ),
  entry(
    "workspace delete",
    "Delete workspaces and all that is in them",
    () => import("./commands/workspace-delete.ts"),
  ),
  entry("workspace exec", "Run a command in a workspace", () => import("./commands/workspace-exec.ts")),
  entry("workspace kill", "End a command that runs in the background", () => import("./commands/workspace-kill.ts")),
  entry(
    "workspace logs",
    "Show the commands that ran, with their output",
    () => import("./commands/workspace-logs.ts"),
  ),
  entry("workspace file list", "List files", () => import("./commands/workspace-file-list.ts")),
  entry("workspace file read", "Show a file", () => import("./commands/workspace-file-read.ts")),
  entry("workspace file write", "Write a file", () => import("./commands/workspace-file-write.ts")),
  entry("workspace patch apply", "Apply a unified diff", () => import("./commands/workspace-patch-apply.ts")),
  entry(
    "workspace diff",
    "Show what changed since the workspace was created",
    () => import("./commands/workspace-diff.ts"),
  ),
  entry("workspace export", "Copy a file or folder out to the host", () => import("./commands/workspace-export.ts")),
  entry(
    "workspace sync push",
    "Copy a folder, archive or file of the host into a workspace",
    () => import("./commands/workspace-sync-push.ts"),
  ),
  entry("workspace cp", "Copy files between the host and a workspace", () => import("./commands/workspace-cp.ts")),
  entry(
    "workspace snapshot create",
    "Keep the files of this moment under a name",
    () => import("./commands/workspace-snapshot-create.ts"),
  ),
  entry(
    "workspace snapshot list",
    "List the snapshots of a workspace",
    () => import("./commands/workspace-snapshot-list.ts"),
  ),
  entry("workspace snapshot delete", "Delete a snapshot", () => import("./commands/workspace-snapshot-delete.ts")),
  entry("workspace reset", "Go back to a snapshot in a new sandbox", () => import("./commands/workspace-reset.ts")),
  entry(
    "workspace fork",
    "Make a new workspace with the files of this one",
    () => import("./commands/workspace-fork.ts"),
  ),
  entry(
    "workspace service start",
    "Start a program that goes on in the background",
    () => import("./commands/workspace-service-start.ts"),
  ),
  entry(
    "workspace service list",
    "List the services of a workspace",
    () => import("./commands/workspace-service-list.ts"),
  ),
  entry("workspace service status", "Show one service", () => import("./commands/workspace-service-status.ts")),
  entry("workspace service logs", "Show what a service printed", () => import("./commands/workspace-service-logs.ts")),
  entry(
    "workspace service stop",
    "Stop a service and all that it started",
    () => import("./commands/workspace-service-stop.ts"),
  ),
  entry("workspace shell list", "List the shells of a workspace", () => import("./commands/workspace-shell-list.ts")),
  entry("workspace shell open", "Open a shell that stays", () => import("./commands/workspace-shell-open.ts")),
  entry("workspace shell read", "Show the output of a shell", () => import("./commands/workspace-shell-read.ts")),
  entry("workspace shell write", "Type into a shell", () => import("./commands/workspace-shell-write.ts")),
  entry(
    "workspace shell signal",
    "Interrupt or end what runs in a shell",
    () => import("./commands/workspace-shell-signal.ts"),
  ),
  entry(
    "workspace shell resize",
    "Change the size of a shell's terminal",
    () => import("./commands/workspace-shell-resize.ts"),
  ),
  entry(
    "workspace shell close",
    "End a shell and drop its output",
    () => import("./commands/workspace-shell-close.ts"),
  ),
  entry(
    "workspace shell attach",
    "Sit down at a shell; Ctrl-] leaves it running",
    () => import("./commands/workspace-shell-attach.ts"),
  ),
  entry(
    "workspace summary",
    "Tell what happened since the workspace was created or reset",
    () => import("./commands/workspace-summary.ts"),
  ),
  entry("workspace stop", "Stop a workspace; its files stay", () => import("./commands/workspace-stop.ts")),
  entry("workspace start", "Start a stopped or expired workspace", () => import("./commands/workspace-start.ts")),
  entry(
    "workspace disk export",
    "Write all files of a stopped workspace to one file of the host",
    () => import("./commands/workspace-disk-export.ts"),
  ),
  entry("workspace disk list", "List files of a stopped workspace", () => import("./commands/workspace-disk-list.ts")),
  entry("workspace disk read", "Show a file of a stopped workspace", () => import("./commands/workspace-disk-read.ts")),
  entry("events", "Show what happened, also to workspaces that are gone", () => import("./commands/events.ts")),
  entry(
    "egress log",
    "Show the requests of a workspace: what passed, what was denied, and by which rule",
    () => import("./commands/egress-log.ts"),
  ),
  entry(
    "egress check",
    "Say whether a request would pass, and by which rule",
    () => import("./commands/egress-check.ts"),
  ),
  entry(
    "egress learn",
    "Propose the smallest list of routes that covers what a workspace has sent",
    () => import("./commands/egress-learn.ts"),
  ),
  entry(
    "egress set",
    "Give a workspace another egress policy, or its tokens anew",
    () => import("./commands/egress-set.ts"),
  ),
  entry("env list", "List the environments", () => import("./commands/env-list.ts")),
  entry("env pull", "Build or refresh an environment now", () => import("./commands/env-pull.ts")),
  entry("env inspect", "Show what is in an environment", () => import("./commands/env-inspect.ts")),
  entry("env prune", "Remove built environments that no workspace uses", () => import("./commands/env-prune.ts")),
  entry("scan", "Find secrets in a folder, a file or a range of commits", () => import("./commands/scan.ts")),
  entry("prepare", "Make an environment ready on a backend, and prove it", () => import("./commands/prepare.ts")),
  entry("doctor", "Say what works on this host, and what to do about the rest", () => import("./commands/doctor.ts")),
  entry("mcp serve", "Serve workspaces to a chat host or agent over MCP", () => import("./commands/mcp-serve.ts")),
  entry(
    "mcp token",
    "Show an address and a token for MCP over HTTP that last",
    () => import("./commands/mcp-token.ts"),
  ),
  entry(
    "host connect",
    "Give a coding agent cloche's tools, with the agent's own command",
    () => import("./commands/host-connect.ts"),
  ),
  entry(
    "host print-config",
    "Print what belongs into a host's configuration",
    () => import("./commands/host-print-config.ts"),
  ),
  entry(
    "host doctor",
    "Say which hosts are connected, and what to do about the rest",
    () => import("./commands/host-doctor.ts"),
  ),
  entry(
    "host repair",
    "Write the entry that a host should have into its configuration",
    () => import("./commands/host-repair.ts"),
  ),
  entry("daemon status", "Show whether the daemon runs", () => import("./commands/daemon-status.ts")),
  entry("daemon stop", "Stop the daemon; workspaces go on", () => import("./commands/daemon-stop.ts")),
  entry("demo", "See the main job done in a few seconds", () => import("./commands/demo.ts")),
  entry("completion", "Print a completion script for a shell", () => import("./commands/completion.ts")),
  entry("help", "Show help about a command", () => import("./commands/help.ts")),
  { ...entry("__complete", "Print what could come next", () => import("./commands/complete.ts")), hidden: true },
];

/** The command words and one line about each. The commands themselves are loaded when they are called: a call loads one. */
export const COMMAND_TREE: CommandTree = { commands, groups };
