import type { StoredWorkspace } from "../contracts/store.ts";
import type {
  CommandName,
  EventsName,
  OperationEvent,
  OperationInput,
  OperationName,
  OperationResult,
  OperationStart,
  WorkspaceOperationName,
} from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

export interface CallContext {
  /** Aborted when the caller goes away, with `DAEMON_STOPPING` as its reason when it is the daemon that goes. */
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
}

/** Output on its way to the caller. Each resolves when there is room for more; all are no-ops once the caller is gone. */
export interface CommandEmitter<Name extends CommandName> {
  /** First of all, and once. */
  started(info: OperationStart<Name>): void;
  stdout(data: Buffer): Promise<void>;
  stderr(data: Buffer): Promise<void>;
}

export interface CommandContext<Name extends CommandName = CommandName> {
  readonly signal: AbortSignal;
  /** Throws when the caller goes away, so that a cut-off input is not taken for its end. Always there for a shell, whose client leaves it by ending this. */
  readonly stdin: AsyncIterable<Buffer> | undefined;
  readonly emit: CommandEmitter<Name>;
}

/** Events on their way to the caller. */
export interface EventsEmitter<Event> {
  /** Resolves when there is room for more; a no-op once the caller is gone. */
  event(event: Event): Promise<void>;
}

export interface EventsContext<Event> {
  readonly signal: AbortSignal;
  readonly emit: EventsEmitter<Event>;
}

/** What a verb gets beside its input, by the kind of its operation. */
type ContextOf<Name extends OperationName> = Name extends CommandName
  ? CommandContext<Name>
  : Name extends EventsName
    ? EventsContext<OperationEvent<Name>>
    : CallContext;

/** An operation as any caller in this process has it: the wire, or a layer above. It keeps its own books. */
export type Verb<Name extends OperationName> = (
  input: OperationInput<Name>,
  context: ContextOf<Name>,
) => Promise<OperationResult<Name>>;

/** The one workspace that a call is about, found by the id that the caller gave. */
export interface FoundWorkspace {
  readonly workspaceId: string;
  /** The record as it is at this moment; WORKSPACE_NOT_FOUND when it was deleted meanwhile. */
  readonly stored: StoredWorkspace;
  /** The running sandbox; an error that says why when there is none. */
  readonly live: LiveWorkspace;
  readonly liveIfRunning: LiveWorkspace | undefined;
}

/** A verb of one workspace, without what is the same for all of them: see `Workspaces.act`. */
export type WorkspaceVerb<Name extends WorkspaceOperationName> = (
  found: FoundWorkspace,
  input: OperationInput<Name>,
  context: ContextOf<Name>,
) => Promise<OperationResult<Name>> | OperationResult<Name>;

/** Those of one topic, by the rows of its operations. */
export type WorkspaceVerbs<Rows> = { [Name in keyof Rows & WorkspaceOperationName]: WorkspaceVerb<Name> };
