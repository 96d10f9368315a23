import type { OperationInput, OperationName } from "../model/operations.ts";
import type { OperationResults, ReportProgress } from "../model/results.ts";

export interface CallContext {
  /** Aborted when the client goes away, with `DAEMON_STOPPING` as its reason when it is the daemon that goes. */
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
}

export interface CommandStarted {
  workspace_id: string;
  sequence: number;
}

export interface ShellAttached {
  workspace_id: string;
  shell_id: string;
}

/** Output on its way to the client. Each resolves when there is room for more; all are no-ops once the client is gone. */
export interface StreamEmitter {
  /** First of all, and once. */
  started(info: CommandStarted | ShellAttached): void;
  stdout(data: Buffer): Promise<void>;
  stderr(data: Buffer): Promise<void>;
}

export interface StreamContext {
  readonly signal: AbortSignal;
  /** Throws when the client goes away, so that a cut-off input is not taken for its end. Always there for a shell, whose client leaves it by ending this. */
  readonly stdin: AsyncIterable<Buffer> | undefined;
  readonly emit: StreamEmitter;
}

export type StreamName = "streamWorkspace" | "attachCommand" | "attachShell";
/** Answered by the daemon itself. */
export type LifeName = "daemonStatus" | "stopDaemon";
type CallName = Exclude<OperationName, StreamName | LifeName>;

export type CallHandler<Name extends OperationName> = (
  input: OperationInput<Name>,
  context: CallContext,
) => Promise<OperationResults[Name]>;

export type StreamHandler<Name extends StreamName> = (
  input: OperationInput<Name>,
  context: StreamContext,
) => Promise<OperationResults[Name]>;

export type Handlers = { [Name in CallName]: CallHandler<Name> } & { [Name in StreamName]: StreamHandler<Name> };
export type LifeHandlers = { [Name in LifeName]: CallHandler<Name> };

/** Why an operation is aborted at the daemon's end: its command is to go on, the next daemon takes it up. */
export const DAEMON_STOPPING = Symbol("the daemon is stopping");

export function isDaemonStopping(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason === DAEMON_STOPPING;
}
