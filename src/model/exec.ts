import { z } from "zod";
import type { ExecutionMode } from "./names.ts";

/** A string is a shell command, an array is an argv. */
export const Command = z.union([z.string().min(1).max(131_072), z.array(z.string().max(131_072)).min(1).max(4096)]);
export type Command = z.infer<typeof Command>;

/** What became of one command; a non-zero exit is a result, not an error. */
export interface ExecResult {
  workspace_id: string;
  sequence: number;
  command: Command;
  cwd: string;
  exit_code: number;
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  timed_out: boolean;
  duration_ms: number;
  execution_mode: ExecutionMode;
  /** Where it can be said why it ended so: what to do about it. */
  hint?: string;
}

/** The first frame of a streamed command. */
export interface CommandStarted {
  workspace_id: string;
  sequence: number;
}

export interface CommandSignalled {
  workspace_id: string;
  sequence: number;
  signalled: boolean;
}

/** A line of the journal. `running` until the command has ended, `lost` when its sandbox ended first. */
export interface JournalEntry extends ExecResult {
  state: "running" | "done" | "lost";
  started_at: number;
}

export interface Journal {
  workspace_id: string;
  entries: JournalEntry[];
}

export type ExecEvent =
  | { type: "started"; workspace_id: string; sequence: number }
  | { type: "stdout" | "stderr"; data: string }
  | ({ type: "exit" } & ExecResult);
