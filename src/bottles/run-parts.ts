import type { WorkspaceParts } from "../workspaces/operations/create-operations.ts";
import type { RunStates } from "./run-states.ts";

/** What runs are made of. */
export interface RunParts extends WorkspaceParts {
  readonly states: RunStates;
}
