import type { StoredShell } from "../../contracts/store.ts";
import type { ClocheError } from "../../base/errors.ts";
import type { GuestClient, ProcessInfo } from "../../guest/client.ts";
import type { GuestProcess } from "../../guest/process.ts";
import { failure } from "../../model/error-codes.ts";
import type { Shell } from "../../model/shell.ts";
import type { Dependencies } from "../dependencies.ts";
import { exitCodeOf } from "../exec-command.ts";
import type { LiveWorkspace } from "../live-workspace.ts";

/** A shell as it is now: what the store says of it, and the process that the guest keeps for it. */
export interface FoundShell {
  readonly guest: GuestClient;
  readonly stored: StoredShell;
  readonly info: ProcessInfo;
}

const TAG = "shell:";

export const shellTag = (shellId: string): string => `${TAG}${shellId}`;

/** Undefined for a process that is no shell. */
export const shellIdOf = (tag: string): string | undefined => (tag.startsWith(TAG) ? tag.slice(TAG.length) : undefined);

export function shellNotFound(live: LiveWorkspace, shellId: string): ClocheError {
  return failure("SHELL_NOT_FOUND", `Workspace ${live.workspaceId} has no shell "${shellId}"`);
}

/** Nothing about a shell is kept here: the guest knows whether it runs, so a new daemon sees what the last one saw. */
export async function findShell(deps: Dependencies, live: LiveWorkspace, shellId: string): Promise<FoundShell> {
  const record = deps.store.findShell(live.workspaceId, shellId);
  if (!record) throw shellNotFound(live, shellId);
  const guest = await live.guest();
  const info = (await guest.processes()).find(({ tag }) => tag === shellTag(shellId));
  if (!info) {
    // It was in an earlier sandbox of this workspace, or never came to be.
    deps.store.deleteShell(live.workspaceId, shellId);
    throw shellNotFound(live, shellId);
  }
  return { guest, stored: settled(deps, live, record, info), info };
}

/** As `findShell`, for verbs that need it to run. */
export async function findRunningShell(deps: Dependencies, live: LiveWorkspace, shellId: string): Promise<FoundShell> {
  const found = await findShell(deps, live, shellId);
  if (found.info.exit) throw failure("SHELL_NOT_RUNNING", `Shell "${shellId}" has ended`);
  return found;
}

/** Joins the terminal from an offset of its output on. */
export const joinShell = ({ guest, info }: FoundShell, offset: number): GuestProcess =>
  guest.attach(info.process, { stdout: offset, stderr: 0 });

export function presentShell(live: LiveWorkspace, stored: StoredShell): Shell {
  const { shellId, state, cwd, cols, rows, exitCode, openedAt } = stored;
  const { workspaceId: workspace_id } = live;
  return { workspace_id, shell_id: shellId, state, cwd, cols, rows, exit_code: exitCode, opened_at: openedAt };
}

/** The record, brought up to date when the shell has ended. */
export function settled(
  deps: Dependencies,
  live: LiveWorkspace,
  record: StoredShell,
  { exit }: Pick<ProcessInfo, "exit">,
): StoredShell {
  if (!exit || record.state !== "running") return record;
  const ended = { ...record, state: "exited", exitCode: exitCodeOf({ ...exit, durationUs: 0, message: "" }) } as const;
  const { store, clock } = deps;
  store.transaction(() => {
    store.putShell(live.workspaceId, ended);
    // The end of what ran is activity.
    store.updateWorkspace(live.workspaceId, { lastActivityAt: clock.now() });
  });
  return ended;
}
