import { z } from "zod";
import { path, secretEnv, terminalSize, workspaceId } from "./fields.ts";

const shell = { workspace_id: workspaceId, shell_id: z.string().min(1).max(64) };

export const shellOperations = {
  openShell: z.strictObject({
    workspace_id: workspaceId,
    cwd: path.optional(),
    cols: terminalSize.cols.optional(),
    rows: terminalSize.rows.optional(),
    secret_env: secretEnv.optional(),
  }),
  readShell: z.strictObject({
    ...shell,
    cursor: z.number().int().min(0).optional(),
    max_chars: z.number().int().min(1).max(16_777_216).optional(),
    plain: z.boolean().optional(),
    wait_for_idle_ms: z.number().int().min(0).max(600_000).nullable().optional(),
  }),
  writeShell: z.strictObject({ ...shell, input: z.string().max(1_048_576), append_newline: z.boolean().optional() }),
  signalShell: z.strictObject({ ...shell, signal: z.enum(["HUP", "INT", "TERM", "KILL"]).optional() }),
  resizeShell: z.strictObject({ ...shell, ...terminalSize }),
  closeShell: z.strictObject(shell),
  /** Full duplex, as `streamWorkspace`: what is typed goes in, the terminal's output comes out as `stdout` frames. */
  attachShell: z.strictObject({ ...shell, ...terminalSize, cursor: z.number().int().min(0).optional() }),
};
