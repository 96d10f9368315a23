import { isClocheError, messageOf } from "../base/errors.ts";
import type { StopOptions } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { ExecResult } from "../model/exec.ts";
import type { OperationInput } from "../model/operations.ts";
import type { WorkspaceReset } from "../model/snapshot.ts";
import type { DeletedWorkspace, Workspace } from "../model/workspace.ts";
import { Adoptions, noAnswer } from "./adoptions.ts";
import { attachCommand, type AttachRequest } from "./adopt-commands.ts";
import { type CreateContext, createWorkspace } from "./create-workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { type ExecContext, type ExecRequest, execCommand } from "./exec-command.ts";
import { Expiry } from "./expiry.ts";
import { forkWorkspace } from "./fork-workspace.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { isVisible } from "./present.ts";
import { moveWorkspace } from "./move-workspace.ts";
import { adoptWorkspace, takeUpSession } from "./recover.ts";
import { resetWorkspace } from "./reset-workspace.ts";
import type { OutputSink } from "./running-command.ts";
import {
  getBackend,
  haltSandbox,
  removeSandboxes,
  requireRemovable,
  sandboxDirectory,
  startSandbox,
} from "./sandbox.ts";
import { NO_SECRETS, redactError, type Secrets } from "./secrets.ts";
import { notRunning } from "./not-running.ts";
import type { Services } from "./services/services.ts";
import { isEmptySession, readSession } from "./session.ts";
import type { Shells } from "./shells/shells.ts";
import { BASELINE } from "./snapshots.ts";
import { Turns } from "./turns.ts";
import { WorkspaceRecords } from "./workspace-records.ts";

type CallContext = Omit<CreateContext, "onLost">;

/** At its start the daemon waits that long for the sandboxes it finds; one that takes longer is taken up when it answers. */
const ADOPTION_MS = 3000;

/** The workspaces of one installation: which run, and their life from creation to removal. */
export class Workspaces extends WorkspaceRecords {
  /** What must not overlap on one workspace. */
  readonly turns = new Turns();
  readonly #shells: Shells;
  readonly #live = new Map<string, LiveWorkspace>();
  /** Values of stopped workspaces too: they are nowhere else. */
  readonly #secrets = new Map<string, Secrets>();
  readonly #adoptions = new Adoptions((live) => void this.#adopted(live));
  /** How many calls are under way in each. */
  readonly #calls = new Map<string, number>();
  readonly #expiry: Expiry;

  constructor(deps: Dependencies, services: Services, shells: Shells) {
    super(deps, services);
    this.#shells = shells;
    this.#expiry = new Expiry({
      now: () => deps.clock.now(),
      list: () => deps.store.listWorkspaces().filter(isVisible),
      isBusy: (workspaceId) => this.#isBusy(workspaceId),
      expire: async (workspaceId) => {
        await this.#remove(workspaceId);
      },
      log: deps.log,
    });
  }

  /** Takes up what an earlier daemon left: adopts what runs, finishes deletions, undoes unfinished creations, removes what nobody stands on. */
  async recover(): Promise<void> {
    const stored = this.deps.store.listWorkspaces();
    // Side by side: a sandbox that does not answer costs the others nothing.
    await Promise.all(stored.map((one) => this.#recoverOne(one)));
    await this.deps.layers.prune();
    await this.deps.scratch.clear();
    this.#expiry.schedule();
  }

  /** Whether something would be lost without a daemon: a running sandbox goes on, but nobody looks after it; a stopped one's secrets are here. */
  get needsDaemon(): boolean {
    return (
      this.#live.size + this.#adoptions.size > 0 ||
      [...this.#secrets.values()].some((secrets) => secrets.values.size > 0)
    );
  }

  async create(input: OperationInput<"createWorkspace">, context: CallContext): Promise<Workspace> {
    const { idempotency_key: key } = input;
    if (key === undefined) return await this.#create(input, context);
    // Whoever asks with the same key while it is being made waits, and gets the same.
    return await this.turns.take(`create ${key}`, async () => {
      const made = this.deps.store.listWorkspaces().find((one) => one.idempotencyKey === key && isVisible(one));
      return made ? this.status(made.workspaceId) : await this.#create(input, context);
    });
  }

  async fork(input: OperationInput<"forkWorkspace">, context: CallContext): Promise<Workspace> {
    const { workspaceId } = this.find(input.workspace_id);
    return await this.turns.take(workspaceId, async () => {
      const secrets = this.#secrets.get(workspaceId) ?? NO_SECRETS;
      const parent = this.find(workspaceId);
      const live = await forkWorkspace(this.deps, parent, input, secrets, { ...context, onLost: this.#lost });
      await this.#takeUp(live);
      return this.#adopted(live);
    });
  }

  async reset(
    { workspace_id: id, snapshot = BASELINE }: OperationInput<"resetWorkspace">,
    { signal, progress }: CallContext,
  ): Promise<WorkspaceReset> {
    const { workspaceId } = this.find(id);
    return await this.turns.take(workspaceId, async () => {
      const live = await resetWorkspace(this.deps, this.find(workspaceId), snapshot, {
        ...this.#context(workspaceId),
        signal,
        progress,
        letGo: () => this.#letGo(workspaceId, "the workspace was reset", { discard: true }),
      });
      this.#secrets.set(workspaceId, live.secrets);
      await this.#takeUp(live);
      this.#live.set(workspaceId, live);
      this.deps.workChanged();
      const { resetCount } = this.find(workspaceId);
      return { workspace_id: workspaceId, reset_count: resetCount, workspace_reset: { snapshot_name: snapshot } };
    });
  }

  /** Ends what runs; `/workspace` stays. */
  async stop(id: string): Promise<Workspace> {
    const { workspaceId } = this.find(id);
    return await this.turns.take(workspaceId, async () => {
      const { state } = this.find(workspaceId);
      if (state === "stopped") return this.status(workspaceId);
      this.deps.store.updateWorkspace(workspaceId, {
        state: "stopped",
        stateReason: null,
        lastActivityAt: this.deps.clock.now(),
      });
      await this.#letGo(workspaceId, "the workspace was stopped");
      await haltSandbox(this.deps, this.find(workspaceId)); // also one that does not answer
      await this.#endSession(workspaceId, "stopped");
      this.deps.store.updateWorkspace(workspaceId, { wall: null });
      return this.status(workspaceId);
    });
  }

  async start(id: string, { signal, progress }: CallContext): Promise<Workspace> {
    const { workspaceId } = this.find(id);
    return await this.turns.take(workspaceId, async () => {
      const stored = this.find(workspaceId);
      if (this.#live.has(workspaceId) || this.#adoptions.has(workspaceId)) return this.status(workspaceId);
      await haltSandbox(this.deps, stored);
      const live = await startSandbox(this.deps, stored, { ...this.#context(workspaceId), signal, progress });
      const now = this.deps.clock.now();
      this.deps.store.updateWorkspace(workspaceId, {
        state: "started",
        stateReason: null,
        wall: live.wall.record,
        lastActivityAt: now,
      });
      return this.#adopted(live);
    });
  }

  /** Looks at the files of a stopped workspace: a sandbox in which nothing but the guest program runs. */
  async inspect<Result>(id: string, look: (live: LiveWorkspace) => Promise<Result>): Promise<Result> {
    const { workspaceId } = this.find(id);
    return await this.turns.take(workspaceId, async () => {
      const stored = this.find(workspaceId);
      if (stored.state !== "stopped")
        throw failure("WORKSPACE_NOT_STOPPED", `Workspace ${workspaceId} is ${stored.state}`);
      const { secrets } = this.#context(workspaceId);
      const live = await startSandbox(this.deps, stored, { secrets, onLost: () => undefined });
      try {
        return await look(live);
      } finally {
        await live.close("it was only looked at");
        await haltSandbox(this.deps, stored);
      }
    });
  }

  async delete(id: string): Promise<DeletedWorkspace> {
    const { workspaceId } = this.find(id);
    if (!(await this.#remove(workspaceId))) throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${id}"`);
    return { workspace_id: workspaceId, deleted: true };
  }

  async exec(id: string, request: ExecRequest, context: ExecContext): Promise<ExecResult> {
    return await execCommand(this.deps, this.live(id), request, context);
  }

  async attach(id: string, request: AttachRequest, sink: OutputSink, signal: AbortSignal): Promise<ExecResult> {
    return await attachCommand(this.deps, this.live(id), request, sink, signal);
  }

  findLive(id: string): LiveWorkspace | undefined {
    return this.#live.get(id) ?? this.#live.get(this.find(id).workspaceId);
  }

  /** The running sandbox of a workspace; an error that says why when there is none. */
  live(id: string): LiveWorkspace {
    const live = this.findLive(id);
    if (live) return live;
    const stored = this.find(id);
    if (this.#adoptions.has(stored.workspaceId)) throw noAnswer(stored.workspaceId);
    throw notRunning(stored);
  }

  /**
   * A call about a workspace: as long as it goes on, the workspace does not expire, and what it throws has no secret in it. With `needsSandbox` it begins
   * when the sandbox has been taken up.
   */
  async during<Result>(id: string, needsSandbox: boolean, call: () => Promise<Result>): Promise<Result> {
    const workspaceId = this.#live.get(id)?.workspaceId ?? this.find(id).workspaceId;
    if (needsSandbox) await this.#adoptions.settled(workspaceId);
    const { redactor } = this.#secrets.get(workspaceId) ?? NO_SECRETS;
    const count = (change: number) => {
      const calls = (this.#calls.get(workspaceId) ?? 0) + change;
      if (calls > 0) this.#calls.set(workspaceId, calls);
      else this.#calls.delete(workspaceId);
    };
    count(1);
    try {
      return await call();
    } catch (error) {
      throw redactError(error, redactor);
    } finally {
      count(-1);
    }
  }

  /** Lets go of everything; the sandboxes stay. */
  async close(): Promise<void> {
    this.#expiry.stop();
    this.deps.journal.flush();
    await this.services.close();
    await Promise.all([...this.#live.values()].map((live) => live.release()));
  }

  async #create(input: OperationInput<"createWorkspace">, context: CallContext): Promise<Workspace> {
    const { from_workspace: from } = input;
    if (from !== undefined) return await this.during(from, true, () => this.#move(from, input, context));
    return this.#adopted(await createWorkspace(this.deps, input, { ...context, onLost: this.#lost }));
  }

  async #move(id: string, input: OperationInput<"createWorkspace">, context: CallContext): Promise<Workspace> {
    const { workspaceId } = this.find(id);
    return await this.turns.take(workspaceId, async () => {
      const from = { stored: this.find(workspaceId), secrets: this.#secrets.get(workspaceId) ?? NO_SECRETS };
      return this.#adopted(await moveWorkspace(this.deps, from, input, { ...context, onLost: this.#lost }));
    });
  }

  #isBusy(workspaceId: string): boolean {
    const live = this.#live.get(workspaceId);
    return this.#calls.has(workspaceId) || (live !== undefined && live.commands.size + live.adopted.size > 0);
  }

  #context(workspaceId: string): { secrets: Secrets; onLost: (reason: string) => void } {
    return {
      secrets: this.#secrets.get(workspaceId) ?? NO_SECRETS,
      onLost: (reason) => this.#lost(workspaceId, reason),
    };
  }

  #adopted(live: LiveWorkspace): Workspace {
    this.#live.set(live.workspaceId, live);
    this.#secrets.set(live.workspaceId, live.secrets);
    this.#expiry.schedule();
    this.deps.workChanged();
    return this.status(live.workspaceId);
  }

  async #recoverOne(stored: StoredWorkspace): Promise<void> {
    const { workspaceId } = stored;
    try {
      if (!isVisible(stored)) {
        await this.#remove(workspaceId);
        return;
      }
      await removeSandboxes(this.deps, stored, stored.generation);
      if (stored.state === "stopped") await haltSandbox(this.deps, stored);
      if (stored.state !== "started") return;
      const directory = sandboxDirectory(this.deps.home, stored);
      const wall = stored.wall && (await getBackend(this.deps, stored.backend).adopt(directory, stored.wall));
      if (!wall) {
        this.#lost(workspaceId, "the sandbox ended while no daemon was running");
        return;
      }
      const onLost = (reason: string) => this.#lost(workspaceId, reason);
      this.#adoptions.begin(workspaceId, () => adoptWorkspace(this.deps, stored, wall, onLost, this.#alsoAdopt));
      await this.#adoptions.settled(workspaceId, ADOPTION_MS);
    } catch (error) {
      this.deps.log.warn("could not take up a workspace", { workspaceId, error: String(error) });
    }
  }

  readonly #alsoAdopt = (live: LiveWorkspace): Promise<unknown> =>
    Promise.all([this.services.adopt(live), this.#shells.adopt(live)]);

  /** Of a sandbox that goes on from a live snapshot: what ran then is known again. */
  async #takeUp(live: LiveWorkspace): Promise<void> {
    if (!isEmptySession(readSession(this.deps, live.workspaceId)))
      await takeUpSession(this.deps, live, this.#alsoAdopt);
  }

  /** Takes the sandbox from its callers at once, then ends it. */
  async #letGo(workspaceId: string, reason: string, options?: StopOptions): Promise<void> {
    const live = this.#live.get(workspaceId);
    this.#live.delete(workspaceId);
    this.#adoptions.forget(workspaceId);
    const closed = live?.close(reason, options);
    await Promise.all([closed, this.services.release(workspaceId, { keepRecords: false })]);
    this.deps.workChanged();
  }

  /** What ran in a sandbox that is gone, while its workspace stays: services have ended, shells are no more. */
  async #endSession(workspaceId: string, state: "stopped" | "failed"): Promise<void> {
    const { store, journal } = this.deps;
    journal.loseRunning(workspaceId);
    for (const { shellId } of store.listShells(workspaceId)) store.deleteShell(workspaceId, shellId);
    await this.services.release(workspaceId, { keepRecords: true, state });
  }

  readonly #lost = (workspaceId: string, reason: string): void => {
    this.#live.delete(workspaceId);
    this.#adoptions.forget(workspaceId);
    const stored = this.deps.store.findWorkspace(workspaceId);
    if (!stored || !isVisible(stored)) return;
    this.deps.log.warn("a sandbox ended", { workspaceId, reason });
    this.deps.store.updateWorkspace(workspaceId, { state: "failed", stateReason: reason });
    void this.#endSession(workspaceId, "failed").catch((error: unknown) =>
      this.deps.log.error("cannot end a session", { workspaceId, error: String(error) }),
    );
    this.deps.workChanged();
  };

  /** False when somebody else has removed it. */
  async #remove(workspaceId: string): Promise<boolean> {
    return await this.turns.take(workspaceId, async () => {
      const stored = this.deps.store.findWorkspace(workspaceId);
      if (!stored) return false;
      if (isVisible(stored)) await requireRemovable(this.deps, stored);
      try {
        this.deps.store.updateWorkspace(workspaceId, { state: "deleting" });
      } catch (error) {
        // What is deleted may be what fills the disk: its files go first then, its record when there is room again.
        if (!isClocheError(error) || error.code !== "DISK_FULL") throw error;
      }
      await this.#letGo(workspaceId, "the workspace was deleted", { discard: true });
      this.#secrets.delete(workspaceId);
      try {
        await removeSandboxes(this.deps, stored);
      } catch (error) {
        // Shown again, so that it can be deleted again.
        this.deps.store.updateWorkspace(workspaceId, {
          state: "failed",
          stateReason: `it could not be removed: ${messageOf(error)}`,
        });
        throw error;
      }
      this.deps.store.deleteWorkspace(workspaceId);
      await this.deps.layers.prune();
      this.deps.workChanged();
      return true;
    });
  }
}
