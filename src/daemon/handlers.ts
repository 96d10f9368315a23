import type {
  CommandName,
  DaemonOperationName,
  EventsName,
  OperationEvent,
  OperationInput,
  OperationName,
  OperationResult,
  OperationStart,
} from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";

export interface CallContext {
  /** Aborted when the client goes away, with `DAEMON_STOPPING` as its reason when it is the daemon that goes. */
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
}

/** Output on its way to the client. Each resolves when there is room for more; all are no-ops once the client is gone. */
export interface CommandEmitter<Name extends CommandName> {
  /** First of all, and once. */
  started(info: OperationStart<Name>): void;
  stdout(data: Buffer): Promise<void>;
  stderr(data: Buffer): Promise<void>;
}

export interface CommandContext<Name extends CommandName = CommandName> {
  readonly signal: AbortSignal;
  /** Throws when the client goes away, so that a cut-off input is not taken for its end. Always there for a shell, whose client leaves it by ending this. */
  readonly stdin: AsyncIterable<Buffer> | undefined;
  readonly emit: CommandEmitter<Name>;
}

export interface EventsContext<Event> {
  readonly signal: AbortSignal;
  readonly emit: EventsEmitter<Event>;
}

/** Events on their way to the client. */
export interface EventsEmitter<Event> {
  /** Resolves when there is room for more; a no-op once the client is gone. */
  event(event: Event): Promise<void>;
}

/** What a handler gets beside its input, by the kind of its operation. */
type ContextOf<Name extends OperationName> = Name extends CommandName
  ? CommandContext<Name>
  : Name extends EventsName
    ? EventsContext<OperationEvent<Name>>
    : CallContext;

export type Handler<Name extends OperationName> = (
  input: OperationInput<Name>,
  context: ContextOf<Name>,
) => Promise<OperationResult<Name>>;

export type DaemonHandlers = { [Name in DaemonOperationName]: Handler<Name> };
export type Handlers = { [Name in Exclude<OperationName, DaemonOperationName>]: Handler<Name> };
/** Those of the operations of one topic. */
export type HandlersOf<Rows> = Pick<Handlers, keyof Rows & keyof Handlers>;

/** The handler of any operation of a kind, as the wire calls it: with the input that belongs to it, which the compiler does not see. */
export type AnyCallHandler = (input: object, context: CallContext) => Promise<unknown>;
export type AnyStreamHandler = (input: object, context: CommandContext & EventsContext<object>) => Promise<unknown>;

/** Why an operation is aborted at the daemon's end: its command is to go on, the next daemon takes it up. */
export const DAEMON_STOPPING = Symbol("the daemon is stopping");

export function isDaemonStopping(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason === DAEMON_STOPPING;
}
