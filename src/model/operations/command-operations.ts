import { z } from "zod";
import { commandFields, terminalSize, workspaceId } from "./fields.ts";

const execFields = { ...commandFields, timeout_seconds: z.number().positive().max(86_400).optional() };
const running = { workspace_id: workspaceId, sequence: z.number().int().min(1) };

export const commandOperations = {
  execWorkspace: z.strictObject({ workspace_id: workspaceId, ...execFields }),
  /** Full duplex: the body is one JSON line, then standard input; the answer is frames (`stream-frames.ts`). */
  streamWorkspace: z.strictObject({
    workspace_id: workspaceId,
    ...execFields,
    /** Whether the rest of the request body is the command's standard input. */
    stdin: z.boolean().optional(),
    /** A terminal of this size instead of pipes. */
    pty: z.strictObject(terminalSize).optional(),
  }),
  /** Joins a command that is still running, from absolute output offsets on: how a client goes on after the daemon's death. */
  attachCommand: z.strictObject({
    ...running,
    stdout_offset: z.number().int().min(0),
    stderr_offset: z.number().int().min(0),
  }),
  signalCommand: z.strictObject({
    ...running,
    signal: z.enum(["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2", "WINCH"]),
  }),
  resizeCommand: z.strictObject({ ...running, ...terminalSize }),
  logsWorkspace: z.strictObject({ workspace_id: workspaceId }),
};
