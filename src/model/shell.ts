export type ShellState = "running" | "exited" | "closed";

export interface Shell {
  workspace_id: string;
  shell_id: string;
  state: ShellState;
  cwd: string;
  cols: number;
  rows: number;
  exit_code: number | null;
  /** Null of one that an older version opened. */
  opened_at: number | null;
}

export interface ShellList {
  workspace_id: string;
  count: number;
  running_count: number;
  /** Those that were opened last come last. */
  shells: Shell[];
}

/** The first frame of an attached shell. */
export interface ShellAttached {
  workspace_id: string;
  shell_id: string;
}

export interface ShellOutput {
  workspace_id: string;
  shell_id: string;
  state: ShellState;
  /** Absolute byte offset of the first byte of `output`. */
  cursor: number;
  /** Where the next read goes on; raw bytes also when `output` is plain. */
  next_cursor: number;
  output: string;
  plain: boolean;
  wait_for_idle_ms: number | null;
  /** Whether output was lost before `cursor`, or cut by `max_chars`. */
  truncated: boolean;
}

export interface ShellWritten {
  workspace_id: string;
  shell_id: string;
  bytes_written: number;
}

export interface ShellSignalled {
  workspace_id: string;
  shell_id: string;
  signal: string;
  signalled: boolean;
}

export interface ShellClosed {
  workspace_id: string;
  shell_id: string;
  closed: true;
}
