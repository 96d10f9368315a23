import { isClocheError, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import type { EventOf } from "../model/event.ts";
import type { OperationInput } from "../model/operations.ts";
import type { AgentSession, Run, RunEnd, RunList, RunMetadata } from "../model/run.ts";
import { newWorkspaceId } from "../workspaces/create-workspace.ts";
import { attachCommand } from "../workspaces/adopt-commands.ts";
import { isVisible } from "../workspaces/present.ts";
import { getBackend } from "../workspaces/sandbox.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { Turns } from "../workspaces/turns.ts";
import type { CallContext, CommandContext } from "../workspaces/verb.ts";
import { hasWork } from "../workspaces/way-home/has-work.ts";
import { ActiveRun } from "./active-run.ts";
import { type AgentEnd, endAgent, signalAgent, watchAgent } from "./agent-session.ts";
import { commitState, findCommit, forgetOtherCommits } from "./commit-run.ts";
import { planAgain } from "./plan-again.ts";
import { activeHint, presentRun, stillRunning } from "./present-run.ts";
import { planRun } from "./plan-run.ts";
import { beginAgent, keepProgram, makeWorkspace, prepareLaunch, undoLaunch } from "./launch.ts";
import type { RunParts } from "./run-parts.ts";

/**
 * The runs of one installation: agents at work, each in a workspace of its own. What is known of a run is in its state folder, and whether its agent works is in the
 * sandbox, so that a daemon that dies takes nothing along and the next one goes on.
 */
export class Runs {
  readonly #parts: RunParts;
  readonly #active = new Map<string, ActiveRun>();
  /** Runs that are being started, resumed or removed: nobody else touches them. */
  readonly #busy = new Set<string>();
  /** The end of a run, and a commit of it, do not overlap. */
  readonly #ends = new Turns();

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Takes up what an earlier daemon left. Nobody waits for sandboxes that have still to answer. */
  recover(): void {
    for (const identity of this.#parts.states.list()) {
      let metadata: RunMetadata;
      try {
        metadata = this.#parts.states.read(identity);
      } catch {
        continue; // a clean-up tells of it
      }
      this.#parts.deps.events.identify(metadata.workspace_id, identity);
      if (metadata.ended_at === null || metadata.exit_code === 0) void this.#takeUp(metadata);
    }
  }

  isActive(identity: string): boolean {
    return this.#active.has(identity) || this.#busy.has(identity);
  }

  async start(input: OperationInput<"startRun">, context: CallContext): Promise<Run> {
    const { states, deps } = this.#parts;
    const plan = await planRun(deps, input);
    const from = input.from === undefined ? undefined : findCommit(this.#parts, input.from);
    const launch = { ...(await prepareLaunch(deps.home, plan, input)), from };
    context.signal.throwIfAborted();
    const identity = states.claim(plan.agent.name);
    const metadata: RunMetadata = {
      version: 1,
      identity,
      agent_name: plan.agent.name,
      backend: plan.backend,
      environment: plan.environment,
      cwd: from?.metadata.cwd ?? plan.spec.project_path,
      copy_cwd: from?.metadata.copy_cwd ?? plan.spec.copy_cwd,
      started_at: deps.clock.now(),
      label: plan.spec.label,
      color: plan.spec.color,
      bottle_names: [...plan.bottle_names],
      workspace_id: newWorkspaceId(),
      session_id: plan.agent_provision.session_id,
      session: null,
      resumed_at: null,
      ended_at: null,
      exit_code: null,
      committed_at: null,
    };
    return await this.#exclusively(identity, async () => {
      try {
        await states.write(metadata);
        await makeWorkspace(this.#parts, metadata, launch, context);
        const live = await this.#liveOf(metadata.workspace_id);
        const session = await beginAgent(this.#parts, live, launch, context);
        return await this.#begun({ ...metadata, session }, live, session);
      } catch (error) {
        await undoLaunch(this.#parts, metadata);
        throw error;
      }
    });
  }

  /** Again in the workspace that it has, with values that are given anew. What was kept stays kept when it cannot be done. */
  async resume(input: OperationInput<"resumeRun">, context: CallContext): Promise<Run> {
    const { states, deps, workspaces } = this.#parts;
    const { identity } = input;
    const metadata = this.resumable(identity);
    const plan = await planAgain(deps, metadata, input);
    const launch = await prepareLaunch(deps.home, plan, input);
    return await this.#exclusively(identity, async () => {
      const { workspace_id: id } = metadata;
      const going = { ...metadata, session: null, ended_at: null, exit_code: null, resumed_at: deps.clock.now() };
      await states.write(going);
      try {
        await keepProgram(this.#parts, metadata, launch, context);
        await workspaces.renew(id, { secrets: launch.secrets, egress: launch.egress }, context);
        const live = await this.#liveOf(id);
        const session = await beginAgent(this.#parts, live, launch, context);
        return await this.#begun({ ...going, session }, live, session);
      } catch (error) {
        await workspaces.shelve(id).catch(() => undefined);
        await states.write({ ...metadata, session: null });
        throw error;
      }
    });
  }

  /** The state of one that can be taken up; else an error that says why not. */
  resumable(identity: string): RunMetadata {
    const { states, deps } = this.#parts;
    if (this.isActive(identity)) throw failure("RUN_ACTIVE", `Run "${identity}" is at work`, activeHint(identity));
    const metadata = states.read(identity);
    getBackend(deps, metadata.backend);
    if (deps.store.findWorkspace(metadata.workspace_id)) return metadata;
    throw failure("RUN_STATE_INVALID", `The workspace of run "${identity}" is gone: ${metadata.workspace_id}`, {
      hint: "Start a new one with `cloche start`; `cloche cleanup` removes what is left of this one",
    });
  }

  /** Both ways at a terminal, else its output; until the agent has ended or the client has gone. */
  async attach(
    input: OperationInput<"attachRun">,
    { signal, stdin, emit }: CommandContext<"attachRun">,
  ): Promise<RunEnd> {
    const { deps, shells } = this.#parts;
    const run = this.#active.get(input.identity);
    if (!run) return await this.#endOf(input.identity);
    const { live, session, metadata } = run;
    emit.started({ identity: input.identity, workspace_id: metadata.workspace_id });
    try {
      const isOver = await run.watched(async () => {
        if (session.kind === "shell") {
          const { cols, rows } = input.terminal ?? { cols: 80, rows: 24 };
          const wanted = {
            workspace_id: live.workspaceId,
            shell_id: session.shell_id,
            cols,
            rows,
            cursor: input.cursor,
          };
          return (
            (await shells.attach(live, wanted, { signal, stdin: stdin ?? nothing(), sink: emit })).state !== "running"
          );
        }
        const { stdout_offset = 0, stderr_offset = 0 } = input;
        await attachCommand(deps, live, { sequence: session.sequence, stdout_offset, stderr_offset }, emit, signal);
        return true;
      });
      return isOver ? await run.ended : stillRunning(input.identity);
    } catch (error) {
      // What took the sandbox away has its own words; the run ends with it.
      if (signal.aborted || !isClocheError(error) || live.isCurrent) throw error;
      return await run.ended;
    }
  }

  async resize({ identity, cols, rows }: OperationInput<"resizeRun">): Promise<{ identity: string; resized: boolean }> {
    const { live, session } = this.#mustBeActive(identity);
    if (session.kind !== "shell") return { identity, resized: false };
    const { shell_id } = session;
    await this.#parts.shells.resize(live, { workspace_id: live.workspaceId, shell_id, cols, rows });
    return { identity, resized: true };
  }

  async signal({ identity, signal }: OperationInput<"signalRun">): Promise<{ identity: string; signalled: boolean }> {
    const { live, session } = this.#mustBeActive(identity);
    return { identity, signalled: await signalAgent(live, session, signal) };
  }

  /** Of one that has ended, how it did. */
  async stop({ identity }: OperationInput<"stopRun">): Promise<RunEnd> {
    const run = this.#active.get(identity);
    if (!run) return await this.#endOf(identity);
    run.expectNobody();
    await endAgent(run.live, run.session, run.ended);
    return await run.ended;
  }

  /** What it has now is what later starts begin with. Its agent goes on. */
  async commit({ identity }: OperationInput<"commitRun">, { signal }: Pick<CallContext, "signal">): Promise<Run> {
    const { states } = this.#parts;
    states.read(identity); // RUN_NOT_FOUND, before anybody waits
    return await this.#ends.take(identity, async () => {
      const run = this.#active.get(identity);
      const metadata = run?.metadata ?? states.read(identity);
      const committed_at = await commitState(this.#parts, metadata, run?.live, signal);
      const committed = { ...metadata, committed_at };
      if (run) run.metadata = committed;
      await states.write(committed);
      await forgetOtherCommits(this.#parts, committed);
      return presentRun(committed);
    });
  }

  list({ all = false }: OperationInput<"listRuns">): RunList {
    const runs = [...this.#active.values()].map(({ metadata }) => presentRun(metadata));
    for (const metadata of all ? this.kept() : []) runs.push(presentRun(metadata));
    runs.sort((one, other) => other.started_at - one.started_at);
    return { count: runs.length, runs };
  }

  /** Those that have ended and can be resumed, as far as their state can be read. */
  kept(): RunMetadata[] {
    return this.#parts.states.list().flatMap((identity) => {
      if (this.isActive(identity)) return [];
      try {
        return [this.#parts.states.read(identity)];
      } catch {
        return [];
      }
    });
  }

  /** What is being done to a run is done by one at a time. */
  async #exclusively<Result>(identity: string, work: () => Promise<Result>): Promise<Result> {
    if (this.isActive(identity)) throw failure("RUN_ACTIVE", `Run "${identity}" is at work`, activeHint(identity));
    this.#busy.add(identity);
    try {
      return await work();
    } finally {
      this.#busy.delete(identity);
    }
  }

  async #begun(metadata: RunMetadata, live: LiveWorkspace, session: AgentSession): Promise<Run> {
    const { states, deps } = this.#parts;
    await states.write(metadata);
    const { identity, workspace_id, agent_name, bottle_names, backend, label } = metadata;
    deps.events.record({ kind: "run.started", workspace_id, identity, agent_name, bottle_names, backend, label });
    this.#follow(metadata, live, session);
    return presentRun(metadata);
  }

  #follow(metadata: RunMetadata, live: LiveWorkspace, session: AgentSession): void {
    const { deps } = this.#parts;
    const run = new ActiveRun(metadata, live, session);
    this.#active.set(metadata.identity, run);
    const follow = async () => {
      const end = await watchAgent(deps, live, session);
      if (end === "left") return;
      await run.unwatched();
      // What it printed is in the journal before its sandbox goes.
      if (session.kind === "command") await live.adopted.get(session.sequence)?.start();
      run.finish(await this.#settle(run.metadata, end, live));
    };
    void follow().catch((error: unknown) => {
      const { identity } = metadata;
      deps.log.error("cannot end a run", { identity, error: messageOf(error) });
      this.#active.delete(identity);
      const reason = messageOf(error);
      run.finish({ identity, state: "ended", exit_code: null, kept: true, reason, has_changes: false });
    });
  }

  /** The end of an agent: after a good one nothing is left, after any other its state and its workspace are kept. */
  async #settle(
    { identity }: Pick<RunMetadata, "identity">,
    end: Exclude<AgentEnd, "left">,
    live: LiveWorkspace | undefined,
  ): Promise<RunEnd> {
    // A commit that is being made is made first.
    return await this.#ends.take(identity, () =>
      this.#settleNow(this.#active.get(identity)?.metadata ?? this.#parts.states.read(identity), end, live),
    );
  }

  async #settleNow(
    metadata: RunMetadata,
    { code, reason }: Exclude<AgentEnd, "left">,
    live: LiveWorkspace | undefined,
  ): Promise<RunEnd> {
    const { states, deps, workspaces } = this.#parts;
    const { identity, workspace_id: id } = metadata;
    const isThere = () => {
      const stored = deps.store.findWorkspace(id);
      return stored !== undefined && isVisible(stored);
    };
    // First: the next daemon would finish what is left to do.
    const ended = { ...metadata, session: null, ended_at: deps.clock.now(), exit_code: code };
    await states.write(ended);
    const kept = (code !== 0 || metadata.committed_at !== null) && isThere();
    // A sandbox that somebody has put in the place of the agent's is theirs.
    const isTheirs = live?.isCurrent !== true && deps.store.findWorkspace(id)?.state === "started";
    const has_changes = await this.#hasChanges(metadata, live);
    if ((kept || has_changes) && !isTheirs) await workspaces.shelve(id);
    if (!kept) {
      // Work that was done on a project outlives the run, for as long as any workspace that nobody uses.
      if (has_changes) workspaces.update(id, { keep: false });
      else if (isThere()) await workspaces.delete(id);
      await states.remove(identity);
    }
    deps.events.record({ kind: "run.ended", workspace_id: id, identity, exit_code: code, kept });
    this.#active.delete(identity);
    return { identity, state: "ended", exit_code: code, kept, reason, has_changes };
  }

  /** Whether there is something that whoever started it would want to have. */
  async #hasChanges({ workspace_id: id, copy_cwd }: RunMetadata, live: LiveWorkspace | undefined): Promise<boolean> {
    const { deps } = this.#parts;
    const stored = deps.store.findWorkspace(id);
    if (!copy_cwd || !stored || !isVisible(stored)) return false;
    return await hasWork(deps, stored, live?.isCurrent === true ? live : undefined);
  }

  /** Never rejects. */
  async #takeUp(metadata: RunMetadata): Promise<void> {
    const { deps } = this.#parts;
    const { identity, session, workspace_id: id, resumed_at, ended_at, exit_code: code } = metadata;
    try {
      if (ended_at !== null) await this.#settle(metadata, { code, reason: null }, undefined);
      else if (session) this.#follow(metadata, await this.#liveOf(id), session);
      // It was being made: nothing has been done in it yet.
      else if (resumed_at === null) await undoLaunch(this.#parts, metadata);
      else await this.#settle(metadata, { code: null, reason: "it was being resumed" }, await this.#liveOf(id));
    } catch (error) {
      const end = { code: null, reason: messageOf(error) };
      await this.#settle(metadata, end, undefined).catch((failed: unknown) =>
        deps.log.error("cannot take up a run", { identity, error: messageOf(failed) }),
      );
    }
  }

  /** The sandbox that runs now; waits for one that is being taken up. */
  async #liveOf(workspaceId: string): Promise<LiveWorkspace> {
    return await this.#parts.workspaces.act("listShells", workspaceId, ({ live }) => live);
  }

  #mustBeActive(identity: string): ActiveRun {
    const run = this.#active.get(identity);
    if (run) return run;
    this.#parts.states.read(identity); // RUN_NOT_FOUND when there was none
    throw failure("RUN_NOT_ACTIVE", `Run "${identity}" has ended`, {
      hint: `Take it up with \`cloche resume ${identity}\``,
    });
  }

  /** Of a run that is not at work: by its state, or by what was told at its end. */
  async #endOf(identity: string): Promise<RunEnd> {
    const { states, deps } = this.#parts;
    try {
      const metadata = states.read(identity);
      const { exit_code } = metadata;
      const has_changes = await this.#hasChanges(metadata, undefined);
      return { identity, state: "ended", exit_code, kept: true, reason: null, has_changes };
    } catch (error) {
      if (!isClocheError(error) || error.code !== "RUN_NOT_FOUND") throw error;
      let last: EventOf<"run.ended"> | undefined;
      for await (const { events } of deps.events.read(0, { identity, kinds: new Set(["run.ended"]) }))
        for (const event of events) if (event.kind === "run.ended") last = event;
      if (!last) throw error;
      const left = deps.store.findWorkspace(last.workspace_id ?? "");
      const has_changes = left !== undefined && isVisible(left);
      return { identity, state: "ended", exit_code: last.exit_code, kept: false, reason: null, has_changes };
    }
  }
}

async function* nothing(): AsyncGenerator<Buffer> {
  // Whoever has nothing to type just watches.
}
