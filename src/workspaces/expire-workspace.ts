import { readUptime, type Uptime } from "../base/uptime.ts";
import type { StoredExpiry, StoredWorkspace } from "../contracts/store.ts";
import { DEFAULTS } from "../model/config.ts";
import type { Dependencies } from "./dependencies.ts";
import { haltWorkspace, removeWorkspace } from "./end-workspace.ts";
import { dueAt } from "./expiry.ts";
import { hasChanges } from "./has-changes.ts";
import { isVisible } from "./present.ts";
import type { RunningWorkspaces } from "./running-workspaces.ts";
import type { Shells } from "./shells/shells.ts";

/** Clocks of a host run a little apart; what is set is set by more. */
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * What becomes of a workspace whose time is over. One without changes is deleted. One with changes is stopped and kept for its grace, in which `start` brings it
 * back; then it is deleted too. `busy`: something runs in it, or somebody is at it. Called in the workspace's turn.
 */
export async function expireWorkspace(
  deps: Dependencies,
  { running, shells }: { readonly running: RunningWorkspaces; readonly shells: Pick<Shells, "settle"> },
  workspaceId: string,
): Promise<"busy" | "done"> {
  const { store, clock } = deps;
  /** As it is now: undefined when it is not due any more. */
  const due = (): StoredWorkspace | undefined => {
    const stored = store.findWorkspace(workspaceId);
    return stored && isVisible(stored) && dueAt(stored) <= clock.now() ? stored : undefined;
  };
  const live = running.find(workspaceId);
  if (live) await shells.settle(live);
  const stored = due();
  if (!stored) return "done";
  if (goesOn(deps, running, workspaceId)) return "busy";
  if (stored.expired) {
    const since = sinceClockWasSet(stored.expired, clock.now(), readUptime());
    if (since === stored.expired.at) await removeWorkspace(deps, running, stored, "expired");
    else store.updateWorkspace(workspaceId, { expired: { ...stored.expired, at: since } });
    return "done";
  }
  const graceSeconds = graceOf(deps, stored);
  const isKept = graceSeconds > 0 && (await hasChanges(deps, stored, live));
  // Somebody may have come while it was looked at.
  if (!due()) return "done";
  if (goesOn(deps, running, workspaceId)) return "busy";
  if (isKept) await shelve(deps, running, stored, graceSeconds);
  else await removeWorkspace(deps, running, stored, "expired");
  return "done";
}

/** What runs in it is activity: then its time begins anew. */
function goesOn({ store, clock }: Dependencies, running: RunningWorkspaces, workspaceId: string): boolean {
  if (running.isCalled(workspaceId)) return true;
  const isAtWork = running.isAtWork(workspaceId);
  if (isAtWork) store.updateWorkspace(workspaceId, { lastActivityAt: clock.now() });
  return isAtWork;
}

async function shelve(
  deps: Dependencies,
  running: RunningWorkspaces,
  stored: StoredWorkspace,
  graceSeconds: number,
): Promise<void> {
  const { store, events, clock } = deps;
  const { workspaceId, ttlSeconds: ttl_seconds } = stored;
  const at = clock.now();
  store.transaction(() => {
    const expired: StoredExpiry = { at, graceSeconds, uptime: readUptime() };
    store.updateWorkspace(workspaceId, { state: "expired", stateReason: "its time to live is over", expired });
    const deletes_at = at + graceSeconds;
    events.record({ kind: "workspace.expired", workspace_id: workspaceId, ttl_seconds, deletes_at });
  });
  await haltWorkspace(deps, running, stored, "its time to live is over");
}

/** A configuration that cannot be read shortens nothing. */
function graceOf(deps: Dependencies, { workspaceId, graceSeconds }: StoredWorkspace): number {
  if (graceSeconds !== null) return graceSeconds;
  try {
    return deps.config().grace_seconds ?? DEFAULTS.grace_seconds;
  } catch (error) {
    deps.log.warn("kept an expired workspace for the usual time", { workspaceId, error: String(error) });
    return DEFAULTS.grace_seconds;
  }
}

/**
 * When it expired, by the clock as it is now. A clock that was set forward does not cut a grace short: as long as the host has not been started anew, its time
 * since then is known otherwise.
 */
export function sinceClockWasSet({ at, uptime: then }: StoredExpiry, now: number, uptime: Uptime | null): number {
  if (!then || !uptime || then.boot !== uptime.boot) return at;
  const passed = uptime.seconds - then.seconds;
  return now - at - passed > CLOCK_TOLERANCE_SECONDS ? now - passed : at;
}

/** For a clock that was set back: nothing has happened later than now, or it would never be over. */
export function sinceNow(stored: StoredWorkspace, now: number): Partial<StoredWorkspace> | undefined {
  const isAhead = (time: number) => time - now > CLOCK_TOLERANCE_SECONDS;
  if (stored.expired && isAhead(stored.expired.at))
    return { expired: { ...stored.expired, at: now, uptime: readUptime() } };
  return !stored.expired && isAhead(stored.lastActivityAt) ? { lastActivityAt: now } : undefined;
}
