import { isClocheError } from "../base/errors.ts";
import { readUptime } from "../base/uptime.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { WORKSPACE_ID } from "../model/names.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Workspace, WorkspaceList } from "../model/workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { executionModeOf } from "./execution-mode.ts";
import { findWorkspace, workspaceNotFound } from "./find-workspace.ts";
import { isVisible, presentWorkspace } from "./present.ts";
import type { Services } from "./services/services.ts";

/** What is recorded of the workspaces: all that can be asked and changed without their sandboxes. */
export class WorkspaceRecords {
  protected readonly deps: Dependencies;
  protected readonly services: Services;

  constructor(deps: Dependencies, services: Services) {
    this.deps = deps;
    this.services = services;
  }

  /** The workspace that a word means. */
  protected find(word: string): StoredWorkspace {
    return findWorkspace(this.deps.store, word);
  }

  /** The id of a workspace that there is, or was and is still told of: one that is gone has to be named in full. */
  findTold(word: string): string {
    const { store } = this.deps;
    if (WORKSPACE_ID.test(word) && store.readEvents(0, { workspaceId: word }, 1).events.length > 0) return word;
    try {
      return this.find(word).workspaceId;
    } catch (error) {
      const gone = isClocheError(error) && error.code === "WORKSPACE_NOT_FOUND" && store.findDeletion({ name: word });
      if (gone && gone.workspace_id !== null) return gone.workspace_id;
      throw error;
    }
  }

  /** The record of a workspace whose id is known, as it is now. */
  protected get(workspaceId: string): StoredWorkspace {
    const stored = this.deps.store.findWorkspace(workspaceId);
    if (!stored || !isVisible(stored)) throw workspaceNotFound(this.deps.store, workspaceId);
    return stored;
  }

  list(): WorkspaceList {
    this.deps.journal.flush(); // the end of a command is activity
    const workspaces = this.deps.store
      .listWorkspaces()
      .filter(isVisible)
      .map((stored) => this.#present(stored));
    return { count: workspaces.length, workspaces };
  }

  status(workspaceId: string): Workspace {
    this.deps.journal.flush();
    return this.#present(this.get(workspaceId));
  }

  update(
    workspaceId: string,
    { name, labels, clear_labels: cleared, ...changes }: Omit<OperationInput<"updateWorkspace">, "workspace_id">,
  ): Workspace {
    const stored = this.get(workspaceId);
    const kept = Object.entries({ ...stored.labels, ...labels }).filter(
      ([key]) => !cleared?.includes(key) || key in (labels ?? {}),
    );
    const { store, events, clock } = this.deps;
    const now = clock.now();
    const next = { name: name === undefined ? stored.name : name, labels: Object.fromEntries(kept) };
    const { ttl_seconds = stored.ttlSeconds, keep = stored.keep } = changes;
    // One that was kept has its whole grace again.
    const isLetGo = stored.keep && !keep;
    const expired = stored.expired && isLetGo ? { ...stored.expired, at: now, uptime: readUptime() } : stored.expired;
    store.transaction(() => {
      store.updateWorkspace(workspaceId, { ...next, ttlSeconds: ttl_seconds, keep, expired, lastActivityAt: now });
      events.record({ kind: "workspace.updated", workspace_id: workspaceId, ...next, ttl_seconds, keep });
    });
    return this.status(workspaceId);
  }

  #present(stored: StoredWorkspace): Workspace {
    const { total, running } = this.services.counts(stored.workspaceId);
    const commands = this.deps.store.countCommands(stored.workspaceId);
    const shells = this.deps.store.listShells(stored.workspaceId).filter(({ state }) => state === "running").length;
    return presentWorkspace(stored, executionModeOf(this.deps, stored.backend), {
      commands,
      services: total,
      runningServices: running,
      shells,
    });
  }
}
