import { isClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { CHANGE_STATUSES, type Diff } from "../model/files.ts";
import type { Service } from "../model/service.ts";
import type { Shell } from "../model/shell.ts";
import type { Summary } from "../model/summary.ts";
import type { Dependencies } from "./dependencies.ts";
import type { DiffOutline } from "./diff/diff-workspace.ts";
import { presentSnapshot } from "./snapshots.ts";

/** A summary is to be read at a glance; the rest is in the journal and the diff. */
const RECENT = { commands: 10, edits: 20, serviceEvents: 20, exports: 20, snapshots: 10 } as const;
const MAX_CHANGES = 200;

export interface SummarySources {
  /** What changed, the most important first, or why that cannot be told. A failure of the list is a reason too. */
  diff(): Promise<DiffOutline | { reason: string }>;
  /** As they are now. */
  services: readonly Pick<Service, "service_name" | "state" | "exit_code">[];
  shells: readonly Pick<Shell, "shell_id" | "state" | "cwd" | "opened_at">[];
}

/** What happened in a workspace since it was created or last reset, put together from what is known on this side. */
export async function summarizeWorkspace(
  { store, journal, events }: Pick<Dependencies, "store" | "journal" | "events">,
  workspaceId: string,
  sources: SummarySources,
): Promise<Summary> {
  const changes = await describeChanges(sources);
  const stored = store.findWorkspace(workspaceId);
  if (stored === undefined) throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${workspaceId}"`);
  journal.flush();
  const commands = store.outlineCommands(workspaceId, RECENT.commands);
  const commandCount = store.countCommands(workspaceId);
  const exports = events.session(workspaceId, ["export.made"]);
  const edits = events.session(workspaceId, ["file.written", "patch.applied", "sync.pushed"]);
  const serviceEvents = events.session(workspaceId, ["service.started", "service.ready", "service.ended"]);
  const snapshots = store.listSnapshots(workspaceId);
  const { services, shells } = sources;
  return {
    workspace_id: workspaceId,
    name: stored.name,
    labels: stored.labels,
    environment: stored.environment,
    state: stored.state,
    last_activity_at: stored.lastActivityAt,
    session_started_at: stored.sessionStartedAt,
    outcome: {
      command_count: commandCount,
      last_command: commands.at(-1) ?? null,
      service_count: services.length,
      running_service_count: services.filter(({ state }) => state === "running").length,
      shell_count: shells.filter(({ state }) => state === "running").length,
      export_count: exports.length,
      snapshot_count: snapshots.length,
      reset_count: stored.resetCount,
    },
    commands: { total: commandCount, recent: commands },
    edits: { recent: edits.slice(-RECENT.edits) },
    changes,
    services: {
      current: services.map(({ service_name, state, exit_code }) => ({ service_name, state, exit_code })),
      recent: serviceEvents.slice(-RECENT.serviceEvents),
    },
    shells: {
      current: shells.map(({ shell_id, state, cwd, opened_at }) => ({ shell_id, state, cwd, opened_at })),
    },
    artifacts: {
      exports: exports.slice(-RECENT.exports).map(({ workspace_path, output_path, artifact_type, time }) => ({
        workspace_path,
        output_path,
        artifact_type,
        at: time,
      })),
    },
    snapshots: {
      named_count: snapshots.length,
      recent: snapshots.slice(-RECENT.snapshots).map(presentSnapshot),
    },
    model_usage: stored.modelUsage.session,
  };
}

async function describeChanges(sources: SummarySources): Promise<Summary["changes"]> {
  const diff = await sources.diff().catch((error: unknown) => {
    // The rest of the summary is worth having without it.
    if (isClocheError(error)) return { reason: error.message };
    throw error;
  });
  if ("reason" in diff) {
    const none = Object.fromEntries(CHANGE_STATUSES.map((status) => [status, 0])) as Omit<Diff["summary"], "total">;
    const nothing = { changed: false, summary: { total: 0, ...none }, entries: [], ignored_count: 0 };
    return { available: false, reason: diff.reason, ...nothing };
  }
  const { changed, summary, entries, ignored_count } = diff;
  const shown = entries.slice(0, MAX_CHANGES).sort((a, b) => (a.path < b.path ? -1 : 1));
  return { available: true, reason: null, changed, summary, entries: shown, ignored_count };
}
