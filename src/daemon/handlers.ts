import type { DaemonOperationName, OperationName } from "../model/operations.ts";
import type { CallContext, CommandContext, EventsContext, Verb } from "../workspaces/verb.ts";

/** What answers each operation of the wire. */
export type Handlers = { readonly [Name in Exclude<OperationName, DaemonOperationName>]: Verb<Name> };
export type DaemonHandlers = { readonly [Name in DaemonOperationName]: Verb<Name> };

/** The handler of any operation of a kind, as the wire calls it: with the input that belongs to it, which the compiler does not see. */
export type AnyCallHandler = (input: object, context: CallContext) => Promise<unknown>;
export type AnyStreamHandler = (input: object, context: CommandContext & EventsContext<object>) => Promise<unknown>;
