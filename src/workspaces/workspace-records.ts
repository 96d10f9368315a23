import type { ClocheError } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { Journal } from "../model/exec.ts";
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
  find(id: string): StoredWorkspace {
    const { store } = this.deps;
    const matches = WORKSPACE_ID.test(id) ? [id] : /^ws-[0-9a-z]*$/.test(id) ? store.findByPrefix(id) : [];
    const found = matches.flatMap((one) => store.findWorkspace(one) ?? []).filter(isVisible);
    if (found.length > 1) throw failure("WORKSPACE_AMBIGUOUS", `More than one workspace id starts with "${id}"`);
    if (!found[0]) throw this.#notFound(id);
    return found[0];
  }

  list(): WorkspaceList {
    this.deps.journal.flush(); // the end of a command is activity
    const workspaces = this.deps.store
      .listWorkspaces()
      .filter(isVisible)
      .map((stored) => this.#present(stored));
    return { count: workspaces.length, workspaces };
  }

  status(id: string): Workspace {
    this.deps.journal.flush();
    return this.#present(this.find(id));
  }

  update({ workspace_id: id, name, labels, clear_labels: cleared }: OperationInput<"updateWorkspace">): Workspace {
    const stored = this.find(id);
    const kept = Object.entries({ ...stored.labels, ...labels }).filter(
      ([key]) => !cleared?.includes(key) || key in (labels ?? {}),
    );
    const { store, events, clock } = this.deps;
    const { workspaceId } = stored;
    const next = { name: name === undefined ? stored.name : name, labels: Object.fromEntries(kept) };
    store.transaction(() => {
      store.updateWorkspace(workspaceId, { ...next, lastActivityAt: clock.now() });
      events.record({ kind: "workspace.updated", workspace_id: workspaceId, ...next });
    });
    return this.status(stored.workspaceId);
  }

  logs(id: string): Journal {
    const { workspaceId } = this.find(id);
    return { workspace_id: workspaceId, entries: this.deps.journal.entries(workspaceId) };
  }

  /** Marks activity that is no command: it moves the expiry. */
  touch(workspaceId: string): void {
    this.deps.store.updateWorkspace(workspaceId, { lastActivityAt: this.deps.clock.now() });
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
