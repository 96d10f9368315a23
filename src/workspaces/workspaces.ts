import { isClocheError } from "../base/errors.ts";
import { workspaceDirectory } from "../base/paths.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { ExecResult, Journal } from "../model/exec.ts";
import { WORKSPACE_ID } from "../model/names.ts";
import type { OperationInput } from "../model/operations.ts";
import type { DeletedWorkspace, Workspace, WorkspaceList } from "../model/workspace.ts";
import { adoptCommands, attachCommand, type AttachRequest } from "./adopt-commands.ts";
import { type CreateContext, createWorkspace, getBackend } from "./create-workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { type ExecContext, type ExecRequest, execCommand } from "./exec-command.ts";
import { Expiry } from "./expiry.ts";
import { LiveWorkspace } from "./live-workspace.ts";
import { isVisible, presentWorkspace } from "./present.ts";
import type { OutputSink } from "./running-command.ts";

/** The workspaces of one installation: which there are, which run, and their life from creation to removal. */
export class Workspaces {
  readonly #deps: Dependencies;
  readonly #live = new Map<string, LiveWorkspace>();
  /** Deletions under way: a second caller waits for the first. */
  readonly #deleting = new Map<string, Promise<void>>();
  readonly #expiry: Expiry;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#expiry = new Expiry({
      now: () => deps.clock.now(),
      list: () => deps.store.listWorkspaces().filter(isVisible),
      isBusy: (workspaceId) => this.#isBusy(workspaceId),
      expire: (workspaceId) => this.#remove(workspaceId),
      log: deps.log,
    });
  }

  /** Takes up what an earlier daemon left: adopts what runs, finishes deletions, undoes unfinished creations. */
  async recover(): Promise<void> {
    for (const stored of this.#deps.store.listWorkspaces()) {
      const { workspaceId } = stored;
      if (!isVisible(stored)) await this.#remove(workspaceId);
      else if (stored.state === "started") await this.#adopt(stored);
    }
    this.#expiry.schedule();
  }

  get hasLive(): boolean {
    return this.#live.size > 0;
  }

  async create(input: OperationInput<"createWorkspace">, context: Omit<CreateContext, "onLost">): Promise<Workspace> {
    const live = await createWorkspace(this.#deps, input, {
      ...context,
      onLost: (id, reason) => this.#lost(id, reason),
    });
    this.#live.set(live.workspaceId, live);
    this.#expiry.schedule();
    return this.status(live.workspaceId);
  }

  list(): WorkspaceList {
    this.#deps.journal.flush(); // the end of a command is activity
    const workspaces = this.#deps.store
      .listWorkspaces()
      .filter(isVisible)
      .map((stored) => this.#present(stored));
    return { count: workspaces.length, workspaces };
  }

  status(id: string): Workspace {
    this.#deps.journal.flush();
    return this.#present(this.find(id));
  }

  update({ workspace_id: id, name, labels, clear_labels: cleared }: OperationInput<"updateWorkspace">): Workspace {
    const stored = this.find(id);
    const kept = Object.entries({ ...stored.labels, ...labels }).filter(
      ([key]) => !cleared?.includes(key) || key in (labels ?? {}),
    );
    this.#deps.store.updateWorkspace(stored.workspaceId, {
      ...(name !== undefined && { name }),
      labels: Object.fromEntries(kept),
      lastActivityAt: this.#deps.clock.now(),
    });
    return this.status(stored.workspaceId);
  }

  async delete(id: string): Promise<DeletedWorkspace> {
    const { workspaceId } = this.find(id);
    await this.#remove(workspaceId);
    return { workspace_id: workspaceId, deleted: true };
  }

  async exec(id: string, request: ExecRequest, context: ExecContext): Promise<ExecResult> {
    return await execCommand(this.#deps, this.live(id), request, context);
  }

  async attach(id: string, request: AttachRequest, sink: OutputSink, signal: AbortSignal): Promise<ExecResult> {
    return await attachCommand(this.#deps, this.live(id), request, sink, signal);
  }

  logs(id: string): Journal {
    const { workspaceId } = this.find(id);
    return { workspace_id: workspaceId, entries: this.#deps.journal.entries(workspaceId) };
  }

  /** The workspace with that id, or with an id that starts so. */
  find(id: string): StoredWorkspace {
    const { store } = this.#deps;
    const matches = WORKSPACE_ID.test(id) ? [id] : /^ws-[0-9a-z]*$/.test(id) ? store.findByPrefix(id) : [];
    const found = matches.flatMap((one) => store.findWorkspace(one) ?? []).filter(isVisible);
    if (found.length > 1) throw failure("WORKSPACE_AMBIGUOUS", `More than one workspace id starts with "${id}"`);
    if (!found[0]) throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${id}"`);
    return found[0];
  }

  /** The running sandbox of a workspace; an error that says why when there is none. */
  live(id: string): LiveWorkspace {
    const known = this.#live.get(id);
    if (known) return known;
    const stored = this.find(id);
    const live = this.#live.get(stored.workspaceId);
    if (live) return live;
    throw failure(
      "WORKSPACE_NOT_RUNNING",
      `Workspace ${stored.workspaceId} is ${stored.state}${stored.stateReason ? `: ${stored.stateReason}` : ""}`,
    );
  }

  /** Marks activity that is no command: it moves the expiry. */
  touch(workspaceId: string): void {
    this.#deps.store.updateWorkspace(workspaceId, { lastActivityAt: this.#deps.clock.now() });
  }

  /** Lets go of everything; the sandboxes stay. */
  async close(): Promise<void> {
    this.#expiry.stop();
    this.#deps.journal.flush();
    await Promise.all([...this.#live.values()].map((live) => live.release()));
  }

  #present(stored: StoredWorkspace): Workspace {
    return presentWorkspace(stored, this.#deps.store.countCommands(stored.workspaceId));
  }

  #isBusy(workspaceId: string): boolean {
    return (this.#live.get(workspaceId)?.commands.size ?? 0) > 0;
  }

  async #adopt(stored: StoredWorkspace): Promise<void> {
    const { workspaceId } = stored;
    const backend = this.#deps.backends.get(stored.backend);
    const wall = stored.wall && (await backend?.adopt(workspaceDirectory(this.#deps.home, workspaceId), stored.wall));
    if (!wall) {
      this.#lost(workspaceId, "the sandbox ended while no daemon was running");
      return;
    }
    const live = new LiveWorkspace(workspaceId, wall, stored.limits, (reason) => this.#lost(workspaceId, reason));
    this.#live.set(workspaceId, live);
    try {
      await adoptCommands(this.#deps, live);
    } catch (error) {
      this.#deps.log.warn("could not take up the commands of a workspace", { workspaceId, error: String(error) });
    }
  }

  #lost(workspaceId: string, reason: string): void {
    this.#live.delete(workspaceId);
    if (!this.#deps.store.findWorkspace(workspaceId) || this.#deleting.has(workspaceId)) return;
    this.#deps.log.warn("a sandbox ended", { workspaceId, reason });
    this.#deps.store.updateWorkspace(workspaceId, { state: "failed", stateReason: reason });
    this.#deps.workChanged();
    for (const entry of this.#deps.store.listRunningCommands().filter((one) => one.workspace_id === workspaceId)) {
      this.#deps.store.endCommand(
        workspaceId,
        entry.sequence,
        { state: "lost", exit_code: 125 },
        this.#deps.clock.now(),
      );
    }
  }

  async #remove(workspaceId: string): Promise<void> {
    const removal = this.#deleting.get(workspaceId) ?? this.#removeOnce(workspaceId);
    this.#deleting.set(workspaceId, removal);
    try {
      await removal;
    } finally {
      this.#deleting.delete(workspaceId);
    }
  }

  async #removeOnce(workspaceId: string): Promise<void> {
    const stored = this.#deps.store.findWorkspace(workspaceId);
    if (!stored) return;
    try {
      this.#deps.store.updateWorkspace(workspaceId, { state: "deleting" });
    } catch (error) {
      // What is deleted may be what fills the disk: its files go first then, its record when there is room again.
      if (!isClocheError(error) || error.code !== "DISK_FULL") throw error;
    }
    const live = this.#live.get(workspaceId);
    this.#live.delete(workspaceId);
    await live?.close();
    await getBackend(this.#deps, stored.backend).remove(workspaceId, workspaceDirectory(this.#deps.home, workspaceId));
    this.#deps.store.deleteWorkspace(workspaceId);
    this.#deps.workChanged();
  }
}
