import type { Shell, ShellAttached, ShellClosed, ShellOutput, ShellSignalled, ShellWritten } from "../shell.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const shellOperations = {
  openShell: {
    kind: "call",
    input: ({ z, workspaceId, path, terminalSize, secretEnv }) =>
      z.strictObject({
        workspace_id: workspaceId,
        cwd: path.optional(),
        cols: terminalSize.cols.optional(),
        rows: terminalSize.rows.optional(),
        secret_env: secretEnv.optional(),
      }),
    result: typeOnly<Shell>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "light",
    cli: "workspace shell open",
    mcp: { tool: "shell_open", profile: "full", reach: "workspace" },
  },
  readShell: {
    kind: "call",
    input: ({ z, shellFields }) =>
      z.strictObject({
        ...shellFields,
        cursor: z.number().int().min(0).optional(),
        max_chars: z.number().int().min(1).max(16_777_216).optional(),
        plain: z.boolean().optional(),
        wait_for_idle_ms: z.number().int().min(0).max(600_000).nullable().optional(),
      }),
    result: typeOnly<ShellOutput>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace shell read",
    mcp: { tool: "shell_read", profile: "full", reach: "workspace" },
  },
  writeShell: {
    kind: "call",
    input: ({ z, shellFields }) =>
      z.strictObject({ ...shellFields, input: z.string().max(1_048_576), append_newline: z.boolean().optional() }),
    result: typeOnly<ShellWritten>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "light",
    cli: "workspace shell write",
    mcp: { tool: "shell_write", profile: "full", reach: "workspace" },
  },
  signalShell: {
    kind: "call",
    input: ({ z, shellFields }) =>
      z.strictObject({ ...shellFields, signal: z.enum(["HUP", "INT", "TERM", "KILL"]).optional() }),
    result: typeOnly<ShellSignalled>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "light",
    cli: "workspace shell signal",
    mcp: { tool: "shell_signal", profile: "full", reach: "workspace" },
  },
  resizeShell: {
    kind: "call",
    input: ({ z, shellFields, terminalSize }) => z.strictObject({ ...shellFields, ...terminalSize }),
    result: typeOnly<Shell>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace shell resize",
    mcp: { tool: "shell_resize", profile: "full", reach: "workspace" },
  },
  closeShell: {
    kind: "call",
    input: ({ z, shellFields }) => z.strictObject(shellFields),
    result: typeOnly<ShellClosed>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "light",
    cli: "workspace shell close",
    mcp: { tool: "shell_close", profile: "full", reach: "workspace" },
  },
  /** What is typed goes in, the terminal's output comes out as `stdout` frames. */
  attachShell: {
    kind: "command",
    input: ({ z, shellFields, terminalSize }) =>
      z.strictObject({ ...shellFields, ...terminalSize, cursor: z.number().int().min(0).optional() }),
    result: typeOnly<Shell>(),
    started: typeOnly<ShellAttached>(),
    stdin: "always",
    about: "sandbox",
    repeatable: true,
    activity: "done",
    lane: "light",
    cli: "workspace shell attach",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
