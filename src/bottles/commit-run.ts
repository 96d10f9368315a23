import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../base/remove-tree.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { AGENT } from "../model/names.ts";
import type { RunMetadata } from "../model/run.ts";
import { writeExport } from "../workspaces/export-writer.ts";
import { HostTree } from "../workspaces/host-tree.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { roomFor, withinRoom } from "../workspaces/room.ts";
import { createSnapshot, deleteSnapshot, findSnapshot } from "../workspaces/snapshots.ts";
import { inSystem } from "./provision.ts";
import type { RunParts } from "./run-parts.ts";

/** The snapshot of the workspace, and the folder of the state with the agent's home. Named after their time: those of an earlier commit count until this one is whole. */
const snapshotOf = (at: number): string => `commit-${Math.floor(at * 1000)}`;
const homeOf = (at: number): string => `home-${Math.floor(at * 1000)}`;

/** What a later start begins with. */
export interface CommittedRun {
  readonly metadata: RunMetadata;
  /** Of the workspace. */
  readonly snapshot: string;
  readonly stored: StoredWorkspace;
  readonly layers: string[];
  /** Of the host: what the home of the agent held. */
  readonly home: string;
}

/**
 * Freezes what an agent can change: the files of its workspace, in a snapshot, and its home. All else in a sandbox is the environment, which its user cannot write
 * to. What runs goes on. Gives the time, by which it is found.
 */
export async function commitState(
  { deps, workspaces, states }: RunParts,
  { identity, workspace_id: id }: RunMetadata,
  live: LiveWorkspace | undefined,
  signal: AbortSignal,
): Promise<number> {
  const at = deps.clock.now();
  const folder = states.folder(identity);
  const fresh = join(folder, homeOf(at));
  const takeHome = async (from: LiveWorkspace) => {
    const files = await from.files();
    const items = files.treeOut("system", inSystem(AGENT.home), { shownPath: AGENT.home, signal });
    // Links may lead anywhere: nobody follows them here, and in a sandbox they lead where they led.
    await writeExport(withinRoom(items, roomFor(fresh)), fresh, { links: "keep", signal });
  };
  try {
    if (live) await takeHome(live);
    else await workspaces.inspect(id, takeHome);
    await workspaces.turns.take(id, async () => {
      const stored = deps.store.findWorkspace(id);
      if (!stored) throw failure("RUN_STATE_INVALID", `The workspace of run "${identity}" is gone: ${id}`);
      await createSnapshot(deps, stored, { name: snapshotOf(at) }, signal);
    });
  } catch (error) {
    await removeTree(fresh);
    throw error;
  }
  return at;
}

/** Takes away what earlier commits have left, and those that were cut off. */
export async function forgetOtherCommits(
  { deps, states }: Pick<RunParts, "deps" | "states">,
  { identity, workspace_id: id, committed_at: at }: RunMetadata,
): Promise<void> {
  const folder = states.folder(identity);
  for (const name of await readdir(folder))
    if (/^home-\d+$/.test(name) && name !== homeOf(at ?? 0)) await removeTree(join(folder, name));
  const stored = deps.store.findWorkspace(id);
  for (const { snapshotName: name } of stored ? deps.store.listSnapshots(id) : [])
    if (stored && /^commit-\d+$/.test(name) && name !== snapshotOf(at ?? 0)) await deleteSnapshot(deps, stored, name);
}

/** What was committed of a run. */
export function findCommit(
  { deps, states }: Pick<RunParts, "deps" | "states">,
  identity: string,
  metadata: RunMetadata = states.read(identity),
): CommittedRun {
  const { committed_at: at } = metadata;
  if (at === null)
    throw failure("RUN_NOT_COMMITTED", `Nothing was committed of run "${identity}"`, {
      hint: `Freeze it with \`cloche commit ${identity}\``,
    });
  const stored = deps.store.findWorkspace(metadata.workspace_id);
  if (!stored)
    throw failure("RUN_STATE_INVALID", `The workspace of run "${identity}" is gone: ${metadata.workspace_id}`);
  const { layers } = findSnapshot(deps, stored, snapshotOf(at));
  return { metadata, snapshot: snapshotOf(at), stored, layers, home: join(states.folder(identity), homeOf(at)) };
}

/** Puts a home that was frozen into a new sandbox, before anything else is put there. */
export async function putHome(live: LiveWorkspace, home: string, signal: AbortSignal): Promise<void> {
  const files = await live.files();
  const call = { shownPath: AGENT.home, signal };
  // Into the folder: beside it, where the guest program would gather it, the user may not write.
  await files.treeInRecords("system", `${inSystem(AGENT.home)}/.`, new HostTree(home).records(), call);
}
