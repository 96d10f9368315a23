import type { StoredWorkspace } from "../../contracts/store.ts";
import type { GuestFiles } from "../../guest/files.ts";
import { failure } from "../../model/error-codes.ts";
import { call, way } from "../../model/hint.ts";
import type { Dependencies } from "../dependencies.ts";
import { isLive } from "../layers.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { withLayers } from "../sandbox.ts";
import { BASELINE, findSnapshot } from "../snapshots.ts";
import { type ChangesWanted, listChanges, type ListedChanges } from "./list-changes.ts";
import { mergeChanges } from "./merge-changes.ts";
import type { State } from "./read-sides.ts";

/** What `since` calls the state that a fork began with, unless a snapshot has that name. */
const FORK = "fork";

/** An earlier state of a workspace, to compare it with. */
export interface ComparedState {
  /** How many of the workspace's layers, from the bottom, belong to it. */
  readonly layers: number;
  /** Its files, where these layers are not all of it: in another sandbox, over the same layers. */
  readonly apart: GuestFiles | undefined;
  /** Where its files are. */
  before(live: LiveWorkspace): Promise<State>;
}

/** The turns of a workspace: nothing that it stands on goes meanwhile. */
type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Finds the state that is asked for. Mostly the workspace stands on it, and its own sandbox can tell: the baseline, what a fork began with, what it was reset
 * to. A snapshot of a workspace that went on is a copy beside it; then a second sandbox shows that.
 */
export async function withState<Result>(
  deps: Dependencies,
  {
    stored,
    since,
    takeTurn,
    signal,
  }: { stored: StoredWorkspace; since?: string | undefined; takeTurn: TakeTurn; signal?: AbortSignal | undefined },
  use: (state: ComparedState) => Promise<Result>,
): Promise<Result> {
  const wanted = layersOf(deps, stored, since ?? BASELINE);
  if (isLive(wanted)) {
    throw failure("NOT_SUPPORTED", `Snapshot "${since}" was saved with what ran, and cannot be compared with`, {
      hint: [way`Make one of the files: ${call("createSnapshot", { workspace_id: null, snapshot_name: "NAME" })}`],
    });
  }
  const own = stored.layers.filter((id) => !isLive([id]));
  const layers = wanted.findIndex((id, index) => own[index] !== id);
  if (layers < 0) return await use(standingOn(wanted.length));
  return await takeTurn(() => withLayers(deps, stored, wanted, (files) => use(apartFrom(layers, files)), signal));
}

function layersOf(deps: Dependencies, stored: StoredWorkspace, since: string): readonly string[] {
  if (since !== FORK || deps.store.findSnapshot(stored.workspaceId, since))
    return findSnapshot(deps, stored, since).layers;
  if (stored.forkLayers) return stored.forkLayers;
  throw failure("INVALID_ARGUMENT", `Workspace ${stored.workspaceId} is no fork`, {
    hint: [way`Name a snapshot, or leave it out to compare with the baseline`],
  });
}

const standingOn = (layers: number): ComparedState => ({
  layers,
  apart: undefined,
  before: async (live) => ({ files: await live.files(), root: layers === 0 ? "baseline" : `layers:${layers}` }),
});

const apartFrom = (layers: number, files: GuestFiles): ComparedState => ({
  layers,
  apart: files,
  before: () => Promise.resolve({ files, root: "workspace" }),
});

/** What changed since a state. */
export async function listSince(
  live: LiveWorkspace,
  { layers, apart }: ComparedState,
  wanted: Omit<ChangesWanted, "layers">,
): Promise<ListedChanges> {
  const now = await live.files();
  const listed = await listChanges(now, { ...wanted, layers });
  if (!apart) return listed;
  const before = await listChanges(apart, { ...wanted, layers });
  const counts = Promise.all([listed.ignoredCount, before.ignoredCount]);
  return {
    changes: await mergeChanges({ files: apart, changes: before.changes }, { files: now, changes: listed.changes }),
    // In folders that both have, nobody has looked: their files are compared by number.
    ignoredCount: counts.then(([after, earlier]) => Math.max(0, after - earlier)),
  };
}
