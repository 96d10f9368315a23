import type { Auditor } from "../audit/auditor.ts";
import { bottlePolicy } from "../bottles/bottle-policy.ts";
import { bottleVerbs } from "../bottles/bottle-verbs.ts";
import { runHandlers } from "../bottles/run-handlers.ts";
import type { RunParts } from "../bottles/run-parts.ts";
import type { Runs } from "../bottles/runs.ts";
import type { approvalOperations } from "../model/operations/approval-operations.ts";
import { createOperations, type WorkspaceParts } from "../workspaces/operations/create-operations.ts";
import { auditHandlers } from "./audit-handlers.ts";
import type { Handlers } from "./handlers.ts";
import { hostHandlers, type HostParts } from "./host-handlers.ts";

/** The verbs as operations of the wire. */
export function createHandlers(
  parts: WorkspaceParts & HostParts & RunParts,
  runs: Runs,
  auditor: Auditor,
): Omit<Handlers, keyof typeof approvalOperations> {
  const operations = createOperations(parts, (bottle) => bottlePolicy(parts.deps, bottle));
  return {
    ...operations,
    deleteWorkspace: async (input, context) => {
      const deleted = await operations.deleteWorkspace(input, context);
      await runs.forget(deleted.workspace_id);
      return deleted;
    },
    ...bottleVerbs(parts.deps),
    ...runHandlers(parts, runs),
    ...auditHandlers(parts, auditor),
    ...hostHandlers(parts),
  };
}
