import type { ExecResult } from "../model/exec.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/results.ts";

export interface ClocheOptions {
  /** Instead of `$CLOCHE_HOME`. */
  home?: string | undefined;
  /** Instead of `$CLOCHE_CACHE`; counts only for a daemon that this client starts. */
  cache?: string | undefined;
  /** Instead of the process's own environment. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** @internal Tests start another program as the daemon. */
  daemonProgram?: string | undefined;
}

export interface CallOptions {
  /** Ends the operation; the call then fails with `CANCELLED`. */
  signal?: AbortSignal | undefined;
}

export interface LongCallOptions extends CallOptions {
  onProgress?: ReportProgress | undefined;
}

export type CreateOptions = OperationInput<"createWorkspace"> & LongCallOptions;
export type UpdateOptions = Omit<OperationInput<"updateWorkspace">, "workspace_id"> & CallOptions;
export type ExecOptions = Omit<OperationInput<"execWorkspace">, "workspace_id"> & CallOptions;
export type StreamOptions = ExecOptions;
export type OpenCommandOptions = Omit<OperationInput<"streamWorkspace">, "workspace_id"> & CallOptions;
export type ListFilesOptions = Omit<OperationInput<"listWorkspaceFiles">, "workspace_id"> & CallOptions;
export type ReadFileOptions = Omit<OperationInput<"readWorkspaceFile">, "workspace_id" | "path"> & CallOptions;
export type WriteFileOptions = Omit<OperationInput<"writeWorkspaceFile">, "workspace_id" | "path"> & CallOptions;
export type ExportOptions = Omit<OperationInput<"exportWorkspace">, "workspace_id" | "path"> & CallOptions;
export type RunOptions = OperationInput<"createWorkspace"> &
  Omit<OperationInput<"execWorkspace">, "workspace_id"> &
  LongCallOptions;
export type OpenRunOptions = RunOptions & Pick<OperationInput<"streamWorkspace">, "stdin" | "pty">;

export type CommandSignal = OperationInput<"signalCommand">["signal"];

export interface OutputChunk {
  channel: "stdout" | "stderr";
  data: Buffer;
}

/**
 * A running command, byte for byte. It goes on when the daemon dies and a new one adopts its sandbox. Output that nobody reads
 * holds the command up; leaving the loop over `output()` drops the rest.
 */
export interface CommandStream extends AsyncDisposable {
  /** Its number in the journal, known once it has started. */
  readonly sequence: Promise<number>;
  /** How it ended; comes after the last output. */
  readonly result: Promise<ExecResult>;
  /** May be called once. */
  output(): AsyncIterable<OutputChunk>;
  /** Resolves when there is room for more. Only with `stdin: true`. */
  write(data: Uint8Array | string): Promise<void>;
  /** End of file for the command's standard input. Idempotent. */
  endInput(): void;
  signal(name: CommandSignal): Promise<void>;
  /** Only with `pty`. */
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** Ends the command if it still runs. */
  close(): Promise<void>;
}
