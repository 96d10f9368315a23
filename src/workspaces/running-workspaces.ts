import { isClocheError } from "../base/errors.ts";
import type { StopOptions, Wall } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { Adoptions, noAnswer } from "./adoptions.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { notRunning } from "./not-running.ts";
import { isVisible } from "./present.ts";
import { adoptWorkspace, takeUpSession } from "./recover.ts";
import { NO_SECRETS, redactError, type Secrets } from "./secrets.ts";
import { isActive } from "./services/service-record.ts";
import type { Services } from "./services/services.ts";
import { isEmptySession, readSession } from "./session.ts";
import type { Shells } from "./shells/shells.ts";

/** At its start the daemon waits that long for the sandboxes it finds; one that takes longer is taken up when it answers. */
const ADOPTION_MS = 3000;

/** Which workspaces run, what runs in them, and what only the daemon's memory holds of them. */
export class RunningWorkspaces {
  readonly #deps: Dependencies;
  readonly #services: Services;
  readonly #shells: Shells;
  readonly #live = new Map<string, LiveWorkspace>();
  /** Values of stopped workspaces too: they are nowhere else. */
  readonly #secrets = new Map<string, Secrets>();
  readonly #adoptions = new Adoptions((live) => this.add(live));
  /** How many calls are under way in each. */
  readonly #calls = new Map<string, number>();

  constructor(deps: Dependencies, services: Services, shells: Shells) {
    this.#deps = deps;
    this.#services = services;
    this.#shells = shells;
  }

  /** Whether something would be lost without a daemon: a running sandbox goes on, but nobody looks after it; a stopped one's secrets are here. */
  get needDaemon(): boolean {
    return (
      this.#live.size + this.#adoptions.size > 0 ||
      [...this.#secrets.values()].some((secrets) => secrets.values.size > 0)
    );
  }

  find(workspaceId: string): LiveWorkspace | undefined {
    return this.#live.get(workspaceId);
  }

  /** The running sandbox; an error that says why when there is none. */
  get(stored: StoredWorkspace): LiveWorkspace {
    const live = this.#live.get(stored.workspaceId);
    if (live) return live;
    throw this.#adoptions.has(stored.workspaceId) ? noAnswer(stored.workspaceId) : notRunning(stored);
  }

  /** Also one that has still to answer. */
  has(workspaceId: string): boolean {
    return this.#live.has(workspaceId) || this.#adoptions.has(workspaceId);
  }

  /** Whether somebody is doing something with it at this moment. */
  isCalled(workspaceId: string): boolean {
    return this.#calls.has(workspaceId);
  }

  /** Whether a command, a service or a shell runs in it, as far as is known without asking the sandbox. */
  isAtWork(workspaceId: string): boolean {
    const { store } = this.#deps;
    if (store.listShells(workspaceId).some(({ state }) => state === "running")) return true;
    if (store.listServices(workspaceId).some(isActive)) return true;
    const live = this.#live.get(workspaceId);
    if (live) return live.commands.size + live.adopted.size > 0;
    // What ran in a sandbox that has still to answer may still run.
    return (
      this.#adoptions.has(workspaceId) &&
      store.listRunningCommands().some(({ workspace_id: one }) => one === workspaceId)
    );
  }

  add(live: LiveWorkspace): void {
    this.#live.set(live.workspaceId, live);
    this.#secrets.set(live.workspaceId, live.secrets);
    this.#deps.workChanged();
  }

  /** Of a sandbox that goes on from a live snapshot: what ran then is known again. */
  async takeUpSession(live: LiveWorkspace): Promise<void> {
    if (!isEmptySession(readSession(this.#deps, live.workspaceId)))
      await takeUpSession(this.#deps, live, this.#alsoAdopt);
  }

  secretsOf(workspaceId: string): Secrets {
    return this.#secrets.get(workspaceId) ?? NO_SECRETS;
  }

  /** What its next sandbox starts with. */
  setSecrets(workspaceId: string, secrets: Secrets): void {
    this.#secrets.set(workspaceId, secrets);
  }

  forgetSecrets(workspaceId: string): void {
    this.#secrets.delete(workspaceId);
  }

  /** What a further sandbox of that workspace starts with. */
  contextOf(workspaceId: string): { secrets: Secrets; onLost: (reason: string) => void } {
    return { secrets: this.secretsOf(workspaceId), onLost: (reason) => this.lost(workspaceId, reason) };
  }

  /**
   * As long as the call goes on, the workspace is busy, and what it throws has no secret in it. With `needsSandbox` it begins when the sandbox has been
   * taken up. A call that loses its sandbox to a reset, a stop or a delete fails with that reason, however far it had come.
   */
  async during<Result>(workspaceId: string, needsSandbox: boolean, call: () => Promise<Result>): Promise<Result> {
    if (needsSandbox) await this.#adoptions.settled(workspaceId);
    const { redactor } = this.secretsOf(workspaceId);
    const live = this.#live.get(workspaceId);
    this.#count(workspaceId, 1);
    try {
      return await call();
    } catch (error) {
      const isLost = live?.isCurrent === false && isClocheError(error) && error.code === "SANDBOX_LOST";
      throw redactError(isLost ? live.lost() : error, redactor);
    } finally {
      this.#count(workspaceId, -1);
    }
  }

  /** Takes up a sandbox that an earlier daemon left, now or when it answers. */
  async adopt(stored: StoredWorkspace, wall: Wall, onAdopted: (live: LiveWorkspace) => void): Promise<void> {
    const { workspaceId } = stored;
    const { onLost } = this.contextOf(workspaceId);
    this.#adoptions.begin(workspaceId, async () => {
      const live = await adoptWorkspace(this.#deps, stored, wall, onLost, this.#alsoAdopt);
      onAdopted(live);
      return live;
    });
    await this.#adoptions.settled(workspaceId, ADOPTION_MS);
  }

  /** Takes the sandbox from its callers at once, then ends it. */
  async letGo(workspaceId: string, reason: string, options?: StopOptions): Promise<void> {
    const live = this.#remove(workspaceId);
    const closed = live?.close(reason, options);
    await Promise.all([closed, this.#services.release(workspaceId, { keepRecords: false })]);
    this.#deps.workChanged();
  }

  /** What ran in a sandbox that is gone, while its workspace stays: services have ended, shells are no more. */
  async endSession(workspaceId: string, state: "stopped" | "failed"): Promise<void> {
    const { store, journal, events } = this.#deps;
    journal.loseRunning(workspaceId);
    store.transaction(() => {
      for (const { shellId } of store.listShells(workspaceId)) {
        store.deleteShell(workspaceId, shellId);
        events.record({ kind: "shell.closed", workspace_id: workspaceId, shell_id: shellId });
      }
    });
    await this.#services.release(workspaceId, { keepRecords: true, state });
  }

  /** A sandbox that ended by itself. */
  readonly lost = (workspaceId: string, reason: string): void => {
    this.#remove(workspaceId);
    const stored = this.#deps.store.findWorkspace(workspaceId);
    if (!stored || !isVisible(stored)) return;
    this.#deps.log.warn("a sandbox ended", { workspaceId, reason });
    const { store, events } = this.#deps;
    store.transaction(() => {
      store.updateWorkspace(workspaceId, { state: "failed", stateReason: reason });
      events.record({ kind: "workspace.failed", workspace_id: workspaceId, reason });
    });
    void this.endSession(workspaceId, "failed").catch((error: unknown) =>
      this.#deps.log.error("cannot end a session", { workspaceId, error: String(error) }),
    );
    this.#deps.workChanged();
  };

  /** Lets go of everything; the sandboxes stay. */
  async release(): Promise<void> {
    await this.#services.close();
    await Promise.all([...this.#live.values()].map((live) => live.release()));
  }

  readonly #alsoAdopt = (live: LiveWorkspace): Promise<unknown> =>
    Promise.all([this.#services.adopt(live), this.#shells.adopt(live)]);

  #remove(workspaceId: string): LiveWorkspace | undefined {
    const live = this.#live.get(workspaceId);
    this.#live.delete(workspaceId);
    this.#adoptions.forget(workspaceId);
    return live;
  }

  #count(workspaceId: string, change: number): void {
    const calls = (this.#calls.get(workspaceId) ?? 0) + change;
    if (calls > 0) this.#calls.set(workspaceId, calls);
    else this.#calls.delete(workspaceId);
  }
}
