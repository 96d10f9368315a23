import { messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import type { AgentSession, Run, RunChange, RunEnd, RunList, RunMetadata } from "../model/run.ts";
import { isVisible } from "../workspaces/present.ts";
import { getBackend } from "../workspaces/sandbox.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { Turns } from "../base/turns.ts";
import type { CallContext, CommandContext } from "../workspaces/verb.ts";
import { ActiveRun } from "./active-run.ts";
import { removeBuilders } from "./build-change.ts";
import { type AttachPlace, attachSession, SharedInput } from "./attach-run.ts";
import { type MovedRun, prepareRemediation, remakeEnvironment } from "./remediate-run.ts";
import { type AgentEnd, endAgent, KILLED, signalAgent, watchAgent } from "./agent-session.ts";
import { commitState, findCommit, forgetOtherCommits } from "./commit-run.ts";
import { newRun } from "./new-run.ts";
import { hasChangesOf, isToBeKept, pastEnd } from "./past-run.ts";
import { planAgain } from "./plan-again.ts";
import { activeHint, presentRun, stillRunning } from "./present-run.ts";
import { planRun } from "./plan-run.ts";
import { endMove, MOVE_CUT } from "./unfinished-move.ts";
import {
  type ApprovedRoutes,
  beginAgent,
  keepProgram,
  makeWorkspace,
  prepareLaunch,
  undoLaunch,
  withRoutes,
} from "./launch.ts";
import { environmentDigest, recordEnded, recordStarted } from "./run-events.ts";
import type { RunParts } from "./run-parts.ts";

/**
 * The runs of one installation: agents at work, each in a workspace of its own. What is known of a run is in its state folder, and whether its agent works is in the
 * sandbox, so that a daemon that dies takes nothing along and the next one goes on.
 */
export class Runs {
  readonly #parts: RunParts;
  readonly #approved: (identity: string) => readonly ApprovedRoutes[];
  readonly #active = new Map<string, ActiveRun>();
  /** Runs that are being started, resumed or removed: nobody else touches them. */
  readonly #busy = new Set<string>();
  /** A commit of a run, its move, its stop and its end each write its state: one after the other. */
  readonly #ends = new Turns();

  /** `approved`: routes that the operator has approved for a run. */
  constructor(parts: RunParts, approved: (identity: string) => readonly ApprovedRoutes[] = () => []) {
    this.#parts = parts;
    this.#approved = approved;
  }

  /** Takes up what an earlier daemon left; resolves when what is written down of each run is right. Nobody waits for sandboxes that have still to answer. */
  async recover(): Promise<void> {
    void removeBuilders(this.#parts);
    for (const identity of this.#parts.states.list()) {
      let metadata: RunMetadata;
      try {
        metadata = this.#parts.states.read(identity);
      } catch {
        continue; // a clean-up tells of it
      }
      this.#parts.deps.events.identify(metadata.workspace_id, identity);
      if (metadata.ended_at === null || !isToBeKept(metadata)) void this.#takeUp(await endMove(this.#parts, metadata));
    }
  }

  isActive(identity: string): boolean {
    return this.#active.has(identity) || this.#busy.has(identity);
  }

  /** One whose agent works. */
  find(identity: string): ActiveRun | undefined {
    return this.#active.get(identity);
  }

  async start(input: OperationInput<"startRun">, context: CallContext): Promise<Run> {
    const { states, deps } = this.#parts;
    deps.gates.expect(); // to start one takes longer than the rest
    const plan = await planRun(deps, input);
    const from = input.from === undefined ? undefined : findCommit(this.#parts, input.from);
    const launch = { ...(await prepareLaunch(deps.home, plan, input)), from };
    context.signal.throwIfAborted();
    const identity = states.claim(plan.agent.name);
    const metadata = newRun(identity, plan, { from, now: deps.clock.now() });
    return await this.#exclusively(identity, async () => {
      try {
        await states.write(metadata);
        await makeWorkspace(this.#parts, metadata, launch, context);
        const live = await this.#liveOf(metadata.workspace_id);
        const session = await beginAgent(this.#parts, live, launch, context);
        return await this.#begun({ ...metadata, session }, live, session, input.manifest);
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
    deps.gates.expect();
    const plan = await planAgain(deps, metadata, input);
    const launch = withRoutes(await prepareLaunch(deps.home, plan, input), this.#approved(identity));
    return await this.#exclusively(identity, async () => {
      const { workspace_id: id } = metadata;
      const going = {
        ...metadata,
        ...{ session: null, ended_at: null, exit_code: null, stopped_at: null },
        resumed_at: deps.clock.now(),
      };
      await states.write(going);
      try {
        await remakeEnvironment(this.#parts, metadata, launch, context);
        await keepProgram(this.#parts, metadata, launch, context);
        await workspaces.renew(id, { secrets: launch.secrets, egress: launch.egress }, context);
        const live = await this.#liveOf(id);
        const session = await beginAgent(this.#parts, live, launch, context);
        return await this.#begun({ ...going, session }, live, session, input.manifest);
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
    const { identity } = input;
    let run = this.#active.get(identity);
    if (!run) return await pastEnd(this.#parts, identity);
    emit.started({ identity, workspace_id: run.metadata.workspace_id });
    const typed = new SharedInput(stdin, (data) => run?.typed(data));
    for (let from: AttachPlace = input; ; from = { terminal: input.terminal, cursor: 0 }) {
      const isOver = await attachSession(this.#parts, run, from, { signal, stdin: typed.read(), sink: emit });
      if (!isOver) return stillRunning(identity);
      if (!run.moved) return await run.ended;
      // It goes on in another sandbox, and whoever is attached with it.
      await run.moved;
      const next = this.#active.get(identity);
      if (!next || next === run) return await run.ended;
      run = next;
    }
  }

  /** Gives it another environment, with the change that the operator approved. What cannot be done has changed nothing. */
  async remediate(identity: string, change: RunChange, context: CallContext): Promise<void> {
    const run = this.#mustBeActive(identity);
    const remediation = await prepareRemediation(this.#parts, run, change, context);
    await this.#ends.take(identity, async () => {
      if (this.#mustBeActive(identity) !== run)
        throw failure("PROPOSAL_CHANGED", `Run "${identity}" has been given another environment meanwhile`);
      const moving = this.#move(run, remediation.move);
      run.moved = moving.catch(() => undefined);
      await moving;
    });
  }

  async #move(run: ActiveRun, move: () => Promise<MovedRun>): Promise<void> {
    const { states, deps } = this.#parts;
    try {
      const { metadata, live, session, problem } = await move();
      await states.write(metadata);
      const next = this.#follow(metadata, live, session, run.manifest);
      void next.ended.then((end) => run.finish(end));
      const { identity, workspace_id, environment } = metadata;
      if (problem !== undefined) throw problem;
      deps.events.record({ kind: "run.moved", workspace_id, identity, environment });
    } catch (error) {
      if (this.#active.get(run.metadata.identity) === run) {
        // Its agent has ended, by itself or by us, and could not be started again.
        const end = await watchAgent(deps, run.live, run.session);
        const { code = null, reason = messageOf(error) } = end === "left" ? {} : end;
        run.finish(await this.#settleNow(run.metadata, { code, reason }, run.live));
      }
      throw error;
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

  /** Of one that has ended, or ends just now, how it did. */
  async stop({ identity }: OperationInput<"stopRun">): Promise<RunEnd> {
    const { states, deps } = this.#parts;
    const known = this.#active.get(identity);
    // First: should this daemon die now, the next one knows that it is to be kept.
    const run = await this.#ends.take(identity, async () => {
      const still = this.#active.get(identity);
      if (!still) return undefined;
      still.metadata = { ...still.metadata, stopped_at: deps.clock.now() };
      await states.write(still.metadata);
      return still;
    });
    if (!run) return await (known?.ended ?? pastEnd(this.#parts, identity));
    run.expectNobody();
    await endAgent(run.live, run.session, { ended: run.ended, killing: () => (run.reason = KILLED) });
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

  /** Without its workspace, a run that was kept cannot be taken up: then its state goes too. */
  async forget(workspaceId: string): Promise<void> {
    const { states } = this.#parts;
    for (const { identity, workspace_id } of this.kept())
      if (workspace_id === workspaceId) await states.remove(identity);
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

  async #begun(
    metadata: RunMetadata,
    live: LiveWorkspace,
    session: AgentSession,
    manifest: ActiveRun["manifest"],
  ): Promise<Run> {
    const { states, deps } = this.#parts;
    const [digest] = await Promise.all([environmentDigest(deps, metadata), states.write(metadata)]);
    recordStarted(deps, metadata, digest);
    this.#follow(metadata, live, session, manifest);
    return presentRun(metadata);
  }

  #follow(
    metadata: RunMetadata,
    live: LiveWorkspace,
    session: AgentSession,
    manifest?: ActiveRun["manifest"],
  ): ActiveRun {
    const { deps } = this.#parts;
    const run = new ActiveRun(metadata, live, session, manifest);
    this.#active.set(metadata.identity, run);
    const follow = async () => {
      const end = await watchAgent(deps, live, session);
      if (end === "left" || run.moved) return;
      await run.unwatched();
      // What it printed is in the journal before its sandbox goes.
      if (session.kind === "command") await live.adopted.get(session.sequence)?.start();
      run.finish(await this.#settle(run.metadata, { ...end, reason: run.reason ?? end.reason }, live));
    };
    void follow().catch((error: unknown) => {
      const { identity } = metadata;
      deps.log.error("cannot end a run", { identity, error: messageOf(error) });
      this.#active.delete(identity);
      const reason = messageOf(error);
      run.finish({ identity, state: "ended", exit_code: null, kept: true, reason, has_changes: false });
    });
    return run;
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
    const ended = { ...metadata, session: null, moving: null, ended_at: deps.clock.now(), exit_code: code };
    await states.write(ended);
    const kept = isToBeKept(ended) && isThere();
    // A sandbox that somebody has put in the place of the agent's is theirs.
    const isTheirs = live?.isCurrent !== true && deps.store.findWorkspace(id)?.state === "started";
    const has_changes = await hasChangesOf(this.#parts, metadata, live);
    if ((kept || has_changes) && !isTheirs) await workspaces.shelve(id);
    if (!kept) {
      // Work that was done on a project outlives the run, for as long as any workspace that nobody uses.
      if (has_changes) workspaces.update(id, { keep: false });
      else if (isThere()) await workspaces.delete(id);
      await states.remove(identity);
    }
    const told: RunEnd = { identity, state: "ended", exit_code: code, kept, reason, has_changes };
    recordEnded(deps, metadata, told);
    this.#active.delete(identity);
    return told;
  }

  /** Never rejects. */
  async #takeUp(metadata: RunMetadata): Promise<void> {
    const { deps } = this.#parts;
    const { identity, session, workspace_id: id, resumed_at, ended_at, exit_code: code } = metadata;
    try {
      if (ended_at !== null) await this.#settle(metadata, { code, reason: null }, undefined);
      else if (metadata.moving) await this.#settle(metadata, { code: null, reason: MOVE_CUT }, await this.#liveOf(id));
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
}
