import type { Command, CommandEntry, CommandTree } from "./command.ts";

const groups: CommandTree["groups"] = [
  { words: ["workspace"], summary: "Work in isolated workspaces", alias: "ws" },
  { words: ["workspace", "file"], summary: "List, read and write files of a workspace" },
  { words: ["env"], summary: "Manage the environments that workspaces start from" },
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
  entry("workspace update", "Change a workspace's name and labels", () => import("./commands/workspace-update.ts")),
  entry("workspace delete", "Delete a workspace and all that is in it", () => import("./commands/workspace-delete.ts")),
  entry("workspace exec", "Run a command in a workspace", () => import("./commands/workspace-exec.ts")),
  entry(
    "workspace logs",
    "Show the commands that ran, with their output",
    () => import("./commands/workspace-logs.ts"),
  ),
  entry("workspace file list", "List files", () => import("./commands/workspace-file-list.ts")),
  entry("workspace file read", "Show a file", () => import("./commands/workspace-file-read.ts")),
  entry("workspace file write", "Write a text file", () => import("./commands/workspace-file-write.ts")),
  entry(
    "workspace diff",
    "Show what changed since the workspace was created",
    () => import("./commands/workspace-diff.ts"),
  ),
  entry("workspace export", "Copy a file or folder out to the host", () => import("./commands/workspace-export.ts")),
  entry("env list", "List the environments", () => import("./commands/env-list.ts")),
  entry("env pull", "Build or refresh an environment now", () => import("./commands/env-pull.ts")),
  entry("env inspect", "Show what is in an environment", () => import("./commands/env-inspect.ts")),
  entry("env prune", "Remove built environments that no workspace uses", () => import("./commands/env-prune.ts")),
  entry("doctor", "Say what works on this host, and what to do about the rest", () => import("./commands/doctor.ts")),
  entry("daemon status", "Show whether the daemon runs", () => import("./commands/daemon-status.ts")),
  entry("daemon stop", "Stop the daemon; workspaces go on", () => import("./commands/daemon-stop.ts")),
  entry("demo", "See the main job done in a few seconds", () => import("./commands/demo.ts")),
  entry("completion", "Print a completion script for a shell", () => import("./commands/completion.ts")),
  entry("help", "Show help about a command", () => import("./commands/help.ts")),
  { ...entry("__complete", "Print what could come next", () => import("./commands/complete.ts")), hidden: true },
];

/** The command words and one line about each. The commands themselves are loaded when they are called: a call loads one. */
export const COMMAND_TREE: CommandTree = { commands, groups };
