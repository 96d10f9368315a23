import type { z } from "zod";
import type { Operation, TypeIn } from "./operation.ts";
import { approvalOperations } from "./operations/approval-operations.ts";
import { auditOperations } from "./operations/audit-operations.ts";
import { bottleOperations } from "./operations/bottle-operations.ts";
import { commandOperations } from "./operations/command-operations.ts";
import { egressOperations } from "./operations/egress-operations.ts";
import { eventOperations } from "./operations/event-operations.ts";
import { fileOperations } from "./operations/file-operations.ts";
import { hostOperations } from "./operations/host-operations.ts";
import { runOperations } from "./operations/run-operations.ts";
import { serviceOperations } from "./operations/service-operations.ts";
import { shellOperations } from "./operations/shell-operations.ts";
import { snapshotOperations } from "./operations/snapshot-operations.ts";
import { workspaceOperations } from "./operations/workspace-operations.ts";

/**
 * What the daemon can be asked, one row per operation: `POST /v1/NAME` with the input as JSON. The SDK's methods have the same names. Whatever else has to
 * know something about an operation reads it here.
 */
export const OPERATIONS = {
  ...workspaceOperations,
  ...commandOperations,
  ...fileOperations,
  ...snapshotOperations,
  ...serviceOperations,
  ...shellOperations,
  ...egressOperations,
  ...eventOperations,
  ...bottleOperations,
  ...runOperations,
  ...approvalOperations,
  ...auditOperations,
  ...hostOperations,
} as const;

type Rows = typeof OPERATIONS;
/** The operations whose row has this in it. */
type NamesWith<Fact extends Partial<Operation>> = {
  [Name in keyof Rows]: Rows[Name] extends Fact ? Name : never;
}[keyof Rows];

export type OperationName = keyof Rows;
export type CallName = NamesWith<{ kind: "call" }>;
export type CommandName = NamesWith<{ kind: "command" }>;
export type EventsName = NamesWith<{ kind: "events" }>;
export type StreamName = Exclude<OperationName, CallName>;
/** About one workspace, whose id is in the input. */
export type WorkspaceOperationName = NamesWith<{ about: "record" | "sandbox" }>;
/** Answered by the daemon itself. */
export type DaemonOperationName = NamesWith<{ about: "daemon" }>;

export type OperationInput<Name extends OperationName> = z.input<ReturnType<Rows[Name]["input"]>>;
export type OperationResult<Name extends OperationName> = TypeIn<Rows[Name]["result"]>;
/** What the first frame of a streamed command says. */
export type OperationStart<Name extends CommandName> = TypeIn<Rows[Name]["started"]>;
/** What a stream of events pushes. */
export type OperationEvent<Name extends EventsName> = Rows[Name] extends { event: infer Event } ? TypeIn<Event> : never;

export const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name);
export const isStream = (name: OperationName): name is StreamName => operationRow(name).kind !== "call";

/** A row without the types of its own input and result. */
export function operationRow(name: OperationName): Operation {
  return OPERATIONS[name];
}
