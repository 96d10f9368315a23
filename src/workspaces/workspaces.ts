import type { StoredWorkspace } from "../contracts/store.ts";
import type { Door } from "../model/door.ts";
import { failure } from "../model/error-codes.ts";
import type { DoorReport } from "../model/gate-control.ts";
import { OPERATIONS, type OperationInput, type WorkspaceOperationName } from "../model/operations.ts";
import type { WorkspaceReset } from "../model/snapshot.ts";
import type { DeletedWorkspace, Workspace } from "../model/workspace.ts";
import type { KnownValue } from "../policy/dlp/detector.ts";
import { type CreateContext, createWorkspace } from "./create-workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { moveDoors, setDoors } from "./doors.ts";
import { egressOrder } from "./egress.ts";
import { isEgressDoor } from "./egress-door.ts";
import { haltWorkspace, removeWorkspace } from "./end-workspace.ts";
import { expireWorkspace, sinceNow } from "./expire-workspace.ts";
import { Expiry } from "./expiry.ts";
import { type ForkInput, type ForkPoint, forkPointOf, forkWorkspace, requireForkable } from "./fork-workspace.ts";
import { hasChanges } from "./has-changes.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { isStopped, isVisible } from "./present.ts";
import { moveWorkspace } from "./move-workspace.ts";
import { letGoOfSecrets, prepareRenewal, type Renewal, requireOpen } from "./renew-workspace.ts";
import { type NextSandbox, resetWorkspace } from "./reset-workspace.ts";
import { RunningWorkspaces } from "./running-workspaces.ts";
import { getBackend, haltSandbox, removeSandboxes, sandboxDirectory, startSandbox } from "./sandbox.ts";
import type { Services } from "./services/services.ts";
import type { Shells } from "./shells/shells.ts";
import { SharedCopies } from "./shared-copies.ts";
import { BASELINE } from "./snapshots.ts";
import { Turns } from "../base/turns.ts";
import type { FoundWorkspace } from "./verb.ts";
import { listenToGates, moveGate, openGate } from "./workspace-gate.ts";
import { WorkspaceRecords } from "./workspace-records.ts";

type CallContext = Omit<CreateContext, "onLost">;
/** How long a daemon that ends goes on removing what was deleted; the next one does the rest. */
const TRASH_PATIENCE_MS = 3000;

/** `withDoors`: the fork has the parent's. */
type ForkContext = CallContext & { readonly withDoors?: boolean | undefined };

/** The workspaces of one installation: their life from creation to removal. */
export class Workspaces extends WorkspaceRecords {
  /** What must not overlap on one workspace. */
  readonly turns = new Turns();
  readonly #copies: SharedCopies;
  readonly #shells: Shells;
  readonly #running: RunningWorkspaces;
  readonly #expiry: Expiry;

  constructor(deps: Dependencies, services: Services, shells: Shells) {
    super(deps, services);
    this.#shells = shells;
    this.#running = new RunningWorkspaces(deps, services, shells);
    this.#copies = new SharedCopies((workspaceId, { signal, begun, keep }) =>
      this.turns.take(workspaceId, async () => {
        begun();
        const stored = this.get(workspaceId);
        const source = { directory: sandboxDirectory(deps.home, stored), layers: stored.layers };
        await deps.layers.add(getBackend(deps, stored.backend), source, keep, signal);
      }),
    );
    this.#expiry = new Expiry({
      now: () => deps.clock.now(),
      list: () => this.#visible(),
      expire: (workspaceId) => this.#expire(workspaceId),
      log: deps.log,
    });
  }

  /** Takes up what an earlier daemon left: adopts what runs, finishes deletions, undoes unfinished creations, removes what nobody stands on. */
  async recover(): Promise<void> {
    listenToGates(this.deps, (workspaceId) => this.#running.find(workspaceId));
    this.deps.trash.recover();
    await this.deps.gates.recover();
    const stored = this.deps.store.listWorkspaces();
    // Side by side: a sandbox that does not answer costs the others nothing.
    await Promise.all(stored.map((one) => this.#recoverOne(one)));
    await this.deps.layers.prune();
    await this.deps.scratch.clear();
    this.#expiry.schedule();
  }

  get needsDaemon(): boolean {
    return this.#running.needDaemon;
  }

  async create(input: OperationInput<"createWorkspace">, context: CallContext): Promise<Workspace> {
    const { idempotency_key: key } = input;
    if (key === undefined) return await this.#create(input, context);
    // A second call with the same key waits while the workspace is being made, and gets the same one.
    return await this.turns.take(`create ${key}`, async () => {
      const made = this.deps.store.listWorkspaces().find((one) => one.idempotencyKey === key && isVisible(one));
      return made ? this.status(made.workspaceId) : await this.#create(input, context);
    });
  }

  async fork(workspaceId: string, input: ForkInput, context: ForkContext): Promise<Workspace> {
    const { snapshot } = input;
    requireForkable(this.deps, this.get(workspaceId), input);
    const begin = async (parent: StoredWorkspace, point: ForkPoint) => {
      context.signal?.throwIfAborted();
      const secrets = this.#running.secretsOf(workspaceId);
      const onLost = this.#running.lost;
      const live = await forkWorkspace(this.deps, { parent, point }, input, secrets, { ...context, onLost });
      await this.#running.takeUpSession(live);
      await this.#moveDoors(live);
      return this.#made(live);
    };
    if (snapshot === undefined)
      return await this.#copies.share(workspaceId, (layers) => begin(this.get(workspaceId), { layers, session: null }));
    return await this.turns.take(workspaceId, () => {
      const parent = this.get(workspaceId);
      return begin(parent, forkPointOf(this.deps, parent, input, snapshot));
    });
  }

  async reset(
    workspaceId: string,
    snapshot: string = BASELINE,
    context: CallContext & NextSandbox = {},
  ): Promise<WorkspaceReset> {
    return await this.turns.take(workspaceId, async () => {
      const live = await resetWorkspace(this.deps, this.get(workspaceId), snapshot, {
        ...context,
        ...this.#running.contextOf(workspaceId),
        letGo: () => this.#running.letGo(workspaceId, "the workspace was reset", { discard: true }),
      });
      await this.#running.takeUpSession(live);
      await this.#moveDoors(live);
      this.#running.add(live);
      const { resetCount } = this.get(workspaceId);
      return { workspace_id: workspaceId, reset_count: resetCount, workspace_reset: { snapshot_name: snapshot } };
    });
  }

  /** Ends what runs; `/workspace` stays. */
  async stop(workspaceId: string): Promise<Workspace> {
    return await this.turns.take(workspaceId, async () => {
      const stored = this.get(workspaceId);
      if (isStopped(stored)) return this.status(workspaceId);
      const unchanged = !(await hasChanges(this.deps, stored, this.#running.find(workspaceId)));
      const { store, events, clock } = this.deps;
      store.transaction(() => {
        const lastActivityAt = clock.now();
        store.updateWorkspace(workspaceId, { state: "stopped", stateReason: null, unchanged, lastActivityAt });
        events.record({ kind: "workspace.stopped", workspace_id: workspaceId });
      });
      await haltWorkspace(this.deps, this.#running, stored, "the workspace was stopped");
      return this.status(workspaceId);
    });
  }

  async start(workspaceId: string, { signal, progress }: CallContext): Promise<Workspace> {
    return await this.turns.take(workspaceId, async () => {
      const stored = this.get(workspaceId);
      if (this.#running.has(workspaceId)) return this.status(workspaceId);
      await haltSandbox(this.deps, stored);
      const context = { ...this.#running.contextOf(workspaceId), signal, progress };
      const live = await startSandbox(this.deps, stored, context);
      const { store, events, clock } = this.deps;
      store.transaction(() => {
        store.updateWorkspace(workspaceId, {
          state: "started",
          stateReason: null,
          expired: null,
          unchanged: false,
          wall: live.wall.record,
          lastActivityAt: clock.now(),
        });
        events.record({ kind: "workspace.started", workspace_id: workspaceId });
      });
      await this.#moveDoors(live);
      return this.#made(live);
    });
  }

  /** A new sandbox over the files that it has, with other secrets and another way out: for the next start of its agent. */
  async renew(workspaceId: string, wanted: Renewal, context: CallContext): Promise<void> {
    const putInForce = await prepareRenewal(this.deps, this.#running, this.get(workspaceId), wanted);
    await this.stop(workspaceId);
    putInForce();
    await this.start(workspaceId, context);
    requireOpen(this.doorsOf(workspaceId));
  }

  /** Ends what runs and lets go of all that is secret; `/workspace` stays. */
  async shelve(workspaceId: string): Promise<void> {
    await this.stop(workspaceId);
    await letGoOfSecrets(this.deps, this.#running, workspaceId);
  }

  /** What the workspace has as doors from now on, in every sandbox that it gets. Tells which are open. */
  async setDoors(workspaceId: string, doors: readonly Door[]): Promise<readonly DoorReport[]> {
    return await this.turns.take(workspaceId, () =>
      setDoors(this.deps, this.get(workspaceId), this.#running.find(workspaceId)?.wall, doors),
    );
  }

  /** The record of a workspace, and the values that must not leave it. */
  guarded(id: string): { stored: StoredWorkspace; known: KnownValue[] } {
    const stored = this.find(id);
    const egress = egressOrder(this.deps, stored, this.#running.secretsOf(stored.workspaceId));
    const known = (egress?.guarded ?? []).map(({ kind, name, value }) => ({ detector: kind, name, value }));
    return { stored, known };
  }

  /** The doors as its gate told last. */
  doorsOf(workspaceId: string): readonly DoorReport[] {
    return this.deps.gates.reports(workspaceId);
  }

  /** Looks at the files of a stopped workspace: a sandbox in which nothing but the guest program runs. */
  async inspect<Result>(workspaceId: string, look: (live: LiveWorkspace) => Promise<Result>): Promise<Result> {
    return await this.turns.take(workspaceId, async () => {
      const stored = this.get(workspaceId);
      if (!isStopped(stored)) throw failure("WORKSPACE_NOT_STOPPED", `Workspace ${workspaceId} is ${stored.state}`);
      const secrets = this.#running.secretsOf(workspaceId);
      const live = await startSandbox(this.deps, stored, { secrets, onLost: () => undefined });
      try {
        return await look(live);
      } finally {
        await live.close("it was only looked at");
        await haltSandbox(this.deps, stored);
      }
    });
  }

  async delete(workspaceId: string): Promise<DeletedWorkspace> {
    if (!(await this.#remove(workspaceId)))
      throw failure("WORKSPACE_NOT_FOUND", `There is no workspace "${workspaceId}"`);
    return { workspace_id: workspaceId, deleted: true };
  }

  override update(workspaceId: string, changes: Omit<OperationInput<"updateWorkspace">, "workspace_id">): Workspace {
    const updated = super.update(workspaceId, changes);
    this.#expiry.schedule(); // its time may have become shorter
    return updated;
  }

  /**
   * The one way to act on a workspace by its id, its name, or the start of its id: found once, it does not expire while the call goes on. What its operation's row says is
   * seen to here: whether the sandbox has to answer first, and whether it counts as activity when it is done.
   */
  async act<Result>(
    operation: WorkspaceOperationName,
    id: string,
    verb: (found: FoundWorkspace) => Promise<Result> | Result,
  ): Promise<Result> {
    const { about, activity } = OPERATIONS[operation];
    return await this.#during(id, about === "sandbox", async (found) => {
      const result = await verb(found);
      if (activity === "done") this.#touch(found.workspaceId);
      return result;
    });
  }

  /** Lets go of everything; the sandboxes stay. */
  async close(): Promise<void> {
    this.#expiry.stop();
    this.deps.journal.flush();
    await this.deps.gates.close();
    this.deps.tokens.close();
    await this.#running.release();
    await this.deps.trash.emptied(TRASH_PATIENCE_MS);
  }

  async #create(input: OperationInput<"createWorkspace">, context: CallContext): Promise<Workspace> {
    const { from_workspace: from } = input;
    if (from !== undefined)
      return await this.#during(from, true, ({ workspaceId }) => this.#move(workspaceId, input, context));
    const live = await createWorkspace(this.deps, input, { ...context, onLost: this.#running.lost });
    return await this.#openFirst(live);
  }

  async #move(workspaceId: string, input: OperationInput<"createWorkspace">, context: CallContext): Promise<Workspace> {
    return await this.turns.take(workspaceId, async () => {
      const from = { stored: this.get(workspaceId), secrets: this.#running.secretsOf(workspaceId) };
      const live = await moveWorkspace(this.deps, from, input, { ...context, onLost: this.#running.lost });
      return await this.#openFirst(live);
    });
  }

  /** One that cannot have what was asked for is not made. */
  async #openFirst(live: LiveWorkspace): Promise<Workspace> {
    const stored = this.get(live.workspaceId);
    if (stored.doors.length === 0) return this.#made(live);
    try {
      await openGate(this.deps, stored, live);
    } catch (error) {
      await live.close("its network could not be opened", { discard: true });
      await this.#remove(live.workspaceId);
      throw error;
    }
    return this.#made(live);
  }

  async #moveDoors(live: LiveWorkspace): Promise<void> {
    await moveGate(this.deps, this.get(live.workspaceId), live);
  }

  async #during<Result>(
    id: string,
    needsSandbox: boolean,
    call: (found: FoundWorkspace) => Promise<Result>,
  ): Promise<Result> {
    const workspaceId = this.#running.find(id)?.workspaceId ?? this.find(id).workspaceId;
    return await this.#running.during(workspaceId, needsSandbox, () => call(this.#found(workspaceId)));
  }

  #found(workspaceId: string): FoundWorkspace {
    const running = this.#running;
    const stored = () => this.get(workspaceId);
    return {
      workspaceId,
      get stored() {
        return stored();
      },
      get live() {
        return running.find(workspaceId) ?? running.get(stored());
      },
      get liveIfRunning() {
        return running.find(workspaceId);
      },
    };
  }

  /** Marks activity that is no command: it moves the expiry. */
  #touch(workspaceId: string): void {
    this.deps.store.updateWorkspace(workspaceId, { lastActivityAt: this.deps.clock.now() });
  }

  #made(live: LiveWorkspace): Workspace {
    this.#running.add(live);
    this.#expiry.schedule();
    return this.status(live.workspaceId);
  }

  async #recoverOne(stored: StoredWorkspace): Promise<void> {
    const { workspaceId } = stored;
    try {
      if (!isVisible(stored)) {
        await this.#remove(workspaceId, stored.stateReason === "expired" ? "expired" : "asked");
        return;
      }
      await removeSandboxes(this.deps, stored, stored.generation);
      if (stored.doors.length === 0) await this.deps.gates.end(workspaceId);
      if (isStopped(stored)) {
        await haltSandbox(this.deps, stored);
        await this.#running.endSession(workspaceId, "stopped");
      }
      if (stored.state !== "started") return;
      const directory = sandboxDirectory(this.deps.home, stored);
      const wall = stored.wall && (await getBackend(this.deps, stored.backend).adopt(directory, stored.wall));
      if (!wall) {
        this.#running.lost(workspaceId, "the sandbox ended while no daemon was running");
        return;
      }
      // Its gate went on by itself, and nobody has to wait until it is known again.
      void this.turns.take(workspaceId, () => moveDoors(this.deps, stored, wall));
      await this.#running.adopt(stored, wall, (live) => {
        // A gate that is new learns what may leave when the secrets of the sandbox are known.
        if (stored.doors.some(isEgressDoor)) void this.turns.take(workspaceId, () => this.#moveDoors(live));
      });
    } catch (error) {
      this.deps.log.warn("could not take up a workspace", { workspaceId, error: String(error) });
    }
  }

  /** False when somebody else has removed it. */
  async #remove(workspaceId: string, because: "asked" | "expired" = "asked"): Promise<boolean> {
    return await this.turns.take(workspaceId, async () => {
      const stored = this.deps.store.findWorkspace(workspaceId);
      if (stored) await removeWorkspace(this.deps, this.#running, stored, because);
      return stored !== undefined;
    });
  }

  async #expire(workspaceId: string): Promise<"busy" | "done"> {
    // Nobody waits here for a turn that a long call has.
    if (this.#running.isCalled(workspaceId)) return "busy";
    const parts = { running: this.#running, shells: this.#shells };
    return await this.turns.take(workspaceId, () => expireWorkspace(this.deps, parts, workspaceId));
  }

  /** All that users see; by a clock that was set back, nothing of it has happened later than now. */
  #visible(): StoredWorkspace[] {
    const { store, clock } = this.deps;
    return store
      .listWorkspaces()
      .filter(isVisible)
      .map((stored) => {
        const fields = sinceNow(stored, clock.now());
        if (fields) store.updateWorkspace(stored.workspaceId, fields);
        return { ...stored, ...fields };
      });
  }
}
