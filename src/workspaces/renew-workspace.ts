import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { DoorReport } from "../model/gate-control.ts";
import type { Dependencies } from "./dependencies.ts";
import { type RunEgress, giveGit, runNetwork } from "./egress.ts";
import type { RunningWorkspaces } from "./running-workspaces.ts";
import { type GivenSecret, readSecrets } from "./secrets.ts";

/** What the next sandbox of a run's workspace has, in the place of what the last one had. */
export interface Renewal {
  readonly secrets: readonly GivenSecret[];
  readonly egress: RunEgress;
}

/** Judges it, before anything is ended. What it gives puts it into force, for the next start. */
export async function prepareRenewal(
  deps: Dependencies,
  running: RunningWorkspaces,
  { workspaceId, backend, egress: earlier }: StoredWorkspace,
  { secrets: given, egress }: Renewal,
): Promise<() => void> {
  const { secrets, records } = await readSecrets(given);
  const { network, tokens } = await runNetwork(deps, backend, egress, earlier);
  return () => {
    deps.store.updateWorkspace(workspaceId, { secrets: records, egress: network.egress, doors: network.doors });
    giveGit(deps, workspaceId, egress.git);
    running.setSecrets(workspaceId, secrets);
    if (tokens) deps.tokens.give(workspaceId, tokens);
  };
}

export function requireOpen(doors: readonly DoorReport[]): void {
  const closed = doors.find(({ state }) => state !== "open");
  if (closed) throw failure("GATE_FAILED", `Port ${closed.port} of the sandbox is closed: ${closed.reason ?? ""}`);
}

/** Of one that was stopped: values, credentials and the gate that has them. */
export async function letGoOfSecrets(
  deps: Dependencies,
  running: RunningWorkspaces,
  workspaceId: string,
): Promise<void> {
  running.forgetSecrets(workspaceId);
  deps.tokens.forget(workspaceId);
  await deps.gates.end(workspaceId);
  deps.workChanged();
}
