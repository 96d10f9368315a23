import type { z } from "zod";
import { commandOperations } from "./operations/command-operations.ts";
import { fileOperations } from "./operations/file-operations.ts";
import { hostOperations } from "./operations/host-operations.ts";
import { serviceOperations } from "./operations/service-operations.ts";
import { shellOperations } from "./operations/shell-operations.ts";
import { snapshotOperations } from "./operations/snapshot-operations.ts";
import { workspaceOperations } from "./operations/workspace-operations.ts";

/**
 * What the daemon can be asked, one schema per operation: `POST /v1/NAME` with the input as JSON. The SDK's methods have the same
 * names. Unknown keys are errors.
 */
export const OPERATIONS = {
  ...workspaceOperations,
  ...commandOperations,
  ...fileOperations,
  ...snapshotOperations,
  ...serviceOperations,
  ...shellOperations,
  ...hostOperations,
} as const satisfies Record<string, z.ZodType>;

export type OperationName = keyof typeof OPERATIONS;
export type OperationInput<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]>;
