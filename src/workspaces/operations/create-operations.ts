import type { WorkspaceOperationName } from "../../model/operations.ts";
import type { Dependencies } from "../dependencies.ts";
import { givenKey } from "../made-for-run.ts";
import type { Services } from "../services/services.ts";
import type { Shells } from "../shells/shells.ts";
import type { FoundWorkspace, Verb } from "../verb.ts";
import { watchEvents } from "../watch-events.ts";
import type { Workspaces } from "../workspaces.ts";
import { commandVerbs } from "./command-verbs.ts";
import { type BottlePolicy, egressCheck, egressLearn, egressVerbs } from "./egress-verbs.ts";
import { fileVerbs } from "./file-verbs.ts";
import { serviceVerbs } from "./service-verbs.ts";
import { shellVerbs } from "./shell-verbs.ts";
import { snapshotVerbs } from "./snapshot-verbs.ts";
import { workspaceVerbs } from "./workspace-verbs.ts";

/** All that can be done with workspaces, by the names of the operations. */
export type WorkspaceOperations = {
  readonly [
    Name in
      WorkspaceOperationName | "createWorkspace" | "listWorkspaces" | "watchEvents" | "checkEgress" | "learnEgress"
  ]: Verb<Name>;
};

export interface WorkspaceParts {
  readonly deps: Dependencies;
  readonly workspaces: Workspaces;
  readonly services: Services;
  readonly shells: Shells;
}

/** What callers in this process use, the wire among them. The same is recorded for every caller. */
export function createOperations(
  { deps, workspaces, services, shells }: WorkspaceParts,
  ofBottle: BottlePolicy,
): WorkspaceOperations {
  const verbs = {
    ...workspaceVerbs(deps, workspaces, services, shells),
    ...commandVerbs(deps),
    ...egressVerbs(deps, workspaces),
    ...fileVerbs(deps, workspaces),
    ...snapshotVerbs(deps, workspaces),
    ...serviceVerbs(services),
    ...shellVerbs(shells),
  } satisfies Record<WorkspaceOperationName, unknown>;
  return {
    ...actingById(workspaces, verbs),
    createWorkspace: (input, context) =>
      workspaces.create({ ...input, idempotency_key: givenKey(input.idempotency_key) }, context),
    // eslint-disable-next-line @typescript-eslint/require-await -- what it throws is a rejection
    listWorkspaces: async () => workspaces.list(),
    watchEvents: watchEvents(deps, workspaces),
    checkEgress: egressCheck(workspaces, ofBottle),
    learnEgress: egressLearn(deps, workspaces),
  };
}

type Acting = { readonly [Name in WorkspaceOperationName]: Verb<Name> };
type AnyVerb = (found: FoundWorkspace, input: object, context: unknown) => unknown;

/** Each verb behind the one way to act on a workspace. */
function actingById(workspaces: Workspaces, verbs: Record<WorkspaceOperationName, unknown>): Acting {
  const acting = (Object.entries(verbs) as [WorkspaceOperationName, AnyVerb][]).map(
    ([name, verb]): [string, unknown] => [
      name,
      (input: { workspace_id: string }, context: unknown) =>
        workspaces.act(name, input.workspace_id, (found) => verb(found, input, context)),
    ],
  );
  // The same verbs under the same names, which the compiler does not see through the entries.
  return Object.fromEntries(acting) as Acting;
}
