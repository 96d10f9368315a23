import { isClocheError, messageOf } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import type { CleanedUp, Leftover, RunMetadata } from "../model/run.ts";
import { runIdentityOf } from "../workspaces/made-for-run.ts";
import { isVisible } from "../workspaces/present.ts";
import type { RunParts } from "./run-parts.ts";
import type { Runs } from "./runs.ts";

interface Found {
  readonly leftover: Leftover;
  /** Whether it stays unless all is to go: somebody may want to take it up. */
  readonly isKept: boolean;
  /** Where it is not of this home. */
  readonly remove?: (() => Promise<void>) | undefined;
}

/**
 * Takes away what runs of this home have left, on every backend. One that works is never touched, and one that can be resumed only with `all`. What cannot be
 * removed now is told as kept, with the reason; asked again, it is tried again.
 */
export async function cleanUp(
  parts: RunParts,
  runs: Runs,
  { all = false, dry_run: isDry = false }: { all?: boolean | undefined; dry_run?: boolean | undefined },
): Promise<CleanedUp> {
  const done: CleanedUp = { removed: [], kept: active(runs) };
  for (const { leftover, isKept, remove } of [...findLeftovers(parts, runs), ...(await findHomeless(parts))]) {
    if (isKept && !all) done.kept.push(leftover);
    else if (isDry) done.removed.push(leftover);
    else {
      const problem = await problemOf(remove ?? (() => removeOwn(parts, leftover)));
      if (problem === undefined) done.removed.push(leftover);
      else done.kept.push({ ...leftover, reason: `it cannot be removed: ${problem}` });
    }
  }
  return done;
}

function active(runs: Runs): Leftover[] {
  return runs.list({}).runs.map(({ identity, workspace_id, backend }) => {
    return { kind: "run", identity, workspace_id, backend, reason: "it is at work" };
  });
}

/** SECURITY: nothing but state folders and workspaces that were made for a run (G-69) */
function findLeftovers({ states, deps }: RunParts, runs: Runs): Found[] {
  const made = deps.store.listWorkspaces().filter(isVisible);
  const folders = new Set(states.list());
  const ofStates = [...folders].flatMap((identity): Found[] => {
    if (runs.isActive(identity)) return [];
    try {
      return [ofState(states.read(identity), made)];
    } catch (error) {
      const reason = isClocheError(error) ? messageOf(error) : "its state cannot be read";
      const workspace = made.find((one) => runIdentityOf(one) === identity);
      return [{ leftover: leftover("state", identity, workspace, reason), isKept: true }];
    }
  });
  const orphans = made.flatMap((workspace): Found[] => {
    const identity = runIdentityOf(workspace);
    if (identity === undefined || folders.has(identity) || runs.isActive(identity)) return [];
    // Of a run that ended well and has changed its project, also when somebody has started it to look; one that is held for a run has lost its state by mistake.
    const isWork = !workspace.keep;
    const reason = isWork ? "its changes can be brought home" : "the state of its run is gone";
    return [{ leftover: leftover("workspace", identity, workspace, reason), isKept: isWork }];
  });
  return [...ofStates, ...orphans];
}

function ofState(
  { identity, workspace_id: id, exit_code: code }: RunMetadata,
  made: readonly StoredWorkspace[],
): Found {
  // SECURITY: a state may name any workspace: what is removed is the one that was made for this run (G-69)
  const workspace = made.find((one) => runIdentityOf(one) === identity);
  if (workspace && workspace.workspaceId !== id)
    return { leftover: leftover("state", identity, workspace, "its state names another workspace"), isKept: true };
  if (!workspace) return { leftover: leftover("state", identity, undefined, "its workspace is gone"), isKept: false };
  const how = code === null ? "it was cut off" : `it ended with exit code ${code}`;
  return { leftover: leftover("run", identity, workspace, `${how}, and can be resumed`), isKept: true };
}

const leftover = (
  kind: Leftover["kind"],
  identity: string,
  workspace: StoredWorkspace | undefined,
  reason: string,
): Leftover => ({
  kind,
  identity,
  workspace_id: workspace?.workspaceId ?? null,
  backend: workspace?.backend ?? null,
  reason,
});

/** On every backend: sandboxes of homes that were deleted, of this one or another. */
async function findHomeless({ deps }: RunParts): Promise<Found[]> {
  const found: Found[] = [];
  for (const backend of deps.backends.values()) {
    try {
      for (const { home, workspaceId, remove } of (await backend.findHomeless?.()) ?? []) {
        const reason = `its home ${JSON.stringify(home)} is gone`;
        const about = { identity: null, workspace_id: workspaceId, backend: backend.name };
        found.push({ leftover: { kind: "sandbox", ...about, reason }, isKept: false, remove });
      }
    } catch (error) {
      deps.log.warn("cannot look for sandboxes without a home", { backend: backend.name, error: messageOf(error) });
    }
  }
  return found;
}

async function removeOwn({ workspaces, states }: RunParts, one: Leftover): Promise<void> {
  if (one.workspace_id !== null) await workspaces.delete(one.workspace_id).catch(unlessGone);
  if (one.identity !== null && one.kind !== "workspace") await states.remove(one.identity);
}

/** Why it could not be done; undefined when it was. */
async function problemOf(remove: () => Promise<void>): Promise<string | undefined> {
  try {
    await remove();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function unlessGone(error: unknown): void {
  if (!isClocheError(error) || error.code !== "WORKSPACE_NOT_FOUND") throw error;
}
