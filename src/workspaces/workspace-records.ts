import type { ClocheError } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { WORKSPACE_ID } from "../model/names.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Workspace, WorkspaceList } from "../model/workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { executionModeOf } from "./execution-mode.ts";
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

  /** The workspace with that id, or with an id that starts so. */
  protected find(id: string): StoredWorkspace {
    const { store } = this.deps;
    const matches = WORKSPACE_ID.test(id) ? [id] : /^ws-[0-9a-z]*$/.test(id) ? store.findByPrefix(id) : [];
    const found = matches.flatMap((one) => store.findWorkspace(one) ?? []).filter(isVisible);
    if (found.length > 1) throw failure("WORKSPACE_AMBIGUOUS", `More than one workspace id starts with "${id}"`);
    if (!found[0]) throw this.#notFound(id);
    return found[0];
  }

  /** The id of a workspace that there is, or was and is still told of: one that is gone has to be named in full. */
  findTold(id: string): string {
    const isTold = WORKSPACE_ID.test(id) && this.deps.store.readEvents(0, { workspaceId: id }, 1).events.length > 0;
    return isTold ? id : this.find(id).workspaceId;
  }

  /** The record of a workspace whose id is known, as it is now. */
  protected get(workspaceId: string): StoredWorkspace {
    const stored = this.deps.store.findWorkspace(workspaceId);
    if (!stored || !isVisible(stored)) throw this.#notFound(workspaceId);
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
    { name, labels, clear_labels: cleared, ttl_seconds: ttl }: Omit<OperationInput<"updateWorkspace">, "workspace_id">,
  ): Workspace {
    const stored = this.get(workspaceId);
    const kept = Object.entries({ ...stored.labels, ...labels }).filter(
      ([key]) => !cleared?.includes(key) || key in (labels ?? {}),
    );
    const { store, events, clock } = this.deps;
    const next = { name: name === undefined ? stored.name : name, labels: Object.fromEntries(kept) };
    store.transaction(() => {
      const ttlSeconds = ttl ?? stored.ttlSeconds;
      store.updateWorkspace(workspaceId, { ...next, ttlSeconds, lastActivityAt: clock.now() });
      events.record({ kind: "workspace.updated", workspace_id: workspaceId, ...next });
    });
    return this.status(workspaceId);
  }

  #present(stored: StoredWorkspace): Workspace {
    const { total, running } = this.services.counts(stored.workspaceId);
    const commands = this.deps.store.countCommands(stored.workspaceId);
    return presentWorkspace(stored, executionModeOf(this.deps, stored.backend), {
      commands,
      services: total,
      runningServices: running,
    });
  }

  #notFound(id: string): ClocheError {
    const named = this.deps.store.listWorkspaces().filter((one) => isVisible(one) && one.name === id);
    return failure("WORKSPACE_NOT_FOUND", `There is no workspace "${id}"`, {
      ...(named[0] && {
        hint: `"${id}" is the name of ${named.map(({ workspaceId }) => workspaceId).join(", ")}; give the id`,
      }),
    });
  }
}
