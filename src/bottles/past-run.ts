import { isClocheError } from "../base/errors.ts";
import type { EventOf } from "../model/event.ts";
import type { RunEnd, RunMetadata } from "../model/run.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { isVisible } from "../workspaces/present.ts";
import { hasWork } from "../workspaces/way-home/has-work.ts";
import type { RunParts } from "./run-parts.ts";

/** Whether there is something that whoever started it would want to have. */
export async function hasChangesOf(
  { deps }: Pick<RunParts, "deps">,
  { workspace_id: id, copy_cwd }: RunMetadata,
  live: LiveWorkspace | undefined,
): Promise<boolean> {
  const stored = deps.store.findWorkspace(id);
  if (!copy_cwd || !stored || !isVisible(stored)) return false;
  return await hasWork(deps, stored, live?.isCurrent === true ? live : undefined);
}

/** The end of a run that is not at work: by its state, or by what was told then. */
export async function pastEnd(parts: Pick<RunParts, "deps" | "states">, identity: string): Promise<RunEnd> {
  const { states, deps } = parts;
  try {
    const metadata = states.read(identity);
    const { exit_code } = metadata;
    const has_changes = await hasChangesOf(parts, metadata, undefined);
    return { identity, state: "ended", exit_code, kept: true, reason: null, has_changes };
  } catch (error) {
    if (!isClocheError(error) || error.code !== "RUN_NOT_FOUND") throw error;
    let last: EventOf<"run.ended"> | undefined;
    for await (const { events } of deps.events.read(0, { identity, kinds: new Set(["run.ended"]) }))
      for (const event of events) if (event.kind === "run.ended") last = event;
    if (!last) throw error;
    const left = deps.store.findWorkspace(last.workspace_id ?? "");
    const has_changes = left !== undefined && isVisible(left);
    return { identity, state: "ended", exit_code: last.exit_code, kept: false, reason: null, has_changes };
  }
}

/** A good end leaves nothing, unless somebody wants to go on with it. */
export const isToBeKept = ({ exit_code: code, committed_at, stopped_at }: RunMetadata): boolean =>
  code !== 0 || committed_at !== null || stopped_at !== null;
