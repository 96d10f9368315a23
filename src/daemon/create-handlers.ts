import { bottlePolicy } from "../bottles/bottle-policy.ts";
import { bottleVerbs } from "../bottles/bottle-verbs.ts";
import { runHandlers } from "../bottles/run-handlers.ts";
import type { RunParts } from "../bottles/run-parts.ts";
import type { Runs } from "../bottles/runs.ts";
import { createOperations, type WorkspaceParts } from "../workspaces/operations/create-operations.ts";
import type { Handlers } from "./handlers.ts";
import { hostHandlers, type HostParts } from "./host-handlers.ts";

/** The verbs as operations of the wire. */
export function createHandlers(parts: WorkspaceParts & HostParts & RunParts, runs: Runs): Handlers {
  return {
    ...createOperations(parts, (bottle) => bottlePolicy(parts.deps, bottle)),
    ...bottleVerbs(parts.deps),
    ...runHandlers(parts, runs),
    ...hostHandlers(parts),
  };
}
