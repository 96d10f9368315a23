import type { CallName, OperationInput, OperationResult } from "../model/operations.ts";
import { ask } from "./ask.ts";
import type { DaemonConnection } from "./connection.ts";
import type { LongCallOptions } from "./options.ts";

/** Operations that are about one workspace. */
type OfWorkspace = {
  [Name in CallName]: OperationInput<Name> extends { workspace_id: string } ? Name : never;
}[CallName];

/** Calls about one workspace, for its handle and the handles of what is in it. */
export class WorkspaceCalls {
  readonly connection: DaemonConnection;
  readonly workspaceId: string;

  constructor(connection: DaemonConnection, workspaceId: string) {
    this.connection = connection;
    this.workspaceId = workspaceId;
  }

  async ask<Name extends OfWorkspace, Given extends Partial<OperationInput<Name>>>(
    operation: Name,
    given: Given,
    options: Omit<OperationInput<Name>, keyof Given | "workspace_id"> & LongCallOptions,
  ): Promise<OperationResult<Name>> {
    const whole = { ...given, workspace_id: this.workspaceId };
    // The same two generics as in `ask`.
    return await ask(this.connection, operation, whole, options as never);
  }
}
