import type { CommandSignalled, CommandStarted, ExecResult, Journal } from "../exec.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const commandOperations = {
  execWorkspace: {
    kind: "call",
    input: ({ z, workspaceId, execFields }) => z.strictObject({ workspace_id: workspaceId, ...execFields }),
    result: typeOnly<ExecResult>(),
    about: "sandbox",
    repeatable: false,
    activity: "recorded",
    lane: "light",
    cli: "workspace exec",
    mcp: { tool: "workspace_exec", profile: "core", reach: "workspace" },
  },
  streamWorkspace: {
    kind: "command",
    input: ({ z, workspaceId, execFields, terminalSize }) =>
      z.strictObject({
        workspace_id: workspaceId,
        ...execFields,
        /** Whether the rest of the request body is the command's standard input. */
        stdin: z.boolean().optional(),
        /** A terminal of this size instead of pipes. */
        pty: z.strictObject(terminalSize).optional(),
      }),
    result: typeOnly<ExecResult>(),
    started: typeOnly<CommandStarted>(),
    stdin: "asked",
    about: "sandbox",
    repeatable: false,
    activity: "recorded",
    lane: "light",
    cli: null,
    mcp: null,
  },
  /** Starts a command and does not wait for it: it runs on without its caller, and its result comes into the journal. */
  startCommand: {
    kind: "call",
    input: ({ z, workspaceId, execFields }) => z.strictObject({ workspace_id: workspaceId, ...execFields }),
    result: typeOnly<CommandStarted>(),
    about: "sandbox",
    repeatable: false,
    activity: "recorded",
    lane: "light",
    cli: null,
    mcp: null,
  },
  /** Joins a command that is still running, from absolute output offsets on: how a client goes on after the daemon's death. */
  attachCommand: {
    kind: "command",
    input: ({ z, runningFields }) =>
      z.strictObject({
        ...runningFields,
        stdout_offset: z.number().int().min(0),
        stderr_offset: z.number().int().min(0),
      }),
    result: typeOnly<ExecResult>(),
    started: typeOnly<CommandStarted>(),
    stdin: "never",
    about: "sandbox",
    repeatable: true,
    activity: "recorded",
    lane: "light",
    cli: null,
    mcp: null,
  },
  signalCommand: {
    kind: "call",
    input: ({ z, runningFields }) =>
      z.strictObject({
        ...runningFields,
        signal: z.enum(["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2", "WINCH"]),
      }),
    result: typeOnly<CommandSignalled>(),
    about: "sandbox",
    repeatable: false,
    activity: "none",
    lane: "light",
    cli: "workspace kill",
    mcp: null,
  },
  resizeCommand: {
    kind: "call",
    input: ({ z, runningFields, terminalSize }) => z.strictObject({ ...runningFields, ...terminalSize }),
    result: typeOnly<{ workspace_id: string; sequence: number; resized: boolean }>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: null,
    mcp: null,
  },
  logsWorkspace: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<Journal>(),
    about: "record",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace logs",
    mcp: { tool: "workspace_logs", profile: "core", reach: "workspace" },
  },
} as const satisfies Record<string, Operation>;
