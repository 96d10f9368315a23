import { bottleVerbs } from "../bottles/bottle-verbs.ts";
import { createOperations, type WorkspaceParts } from "../workspaces/operations/create-operations.ts";
import type { Handlers } from "./handlers.ts";
import { hostHandlers, type HostParts } from "./host-handlers.ts";

/** The verbs as operations of the wire. */
export function createHandlers(parts: WorkspaceParts & HostParts): Handlers {
  return { ...createOperations(parts), ...bottleVerbs(parts.deps), ...hostHandlers(parts) };
}
