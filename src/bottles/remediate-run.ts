import { messageOf } from "../base/errors.ts";
import { changedName, layeredEnvironment, layeredName } from "../contracts/environment.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import type { BottlePlan } from "../model/bottle-plan.ts";
import { failure } from "../model/error-codes.ts";
import type { AgentSession, RunChange, RunMetadata } from "../model/run.ts";
import type { EnvironmentChange } from "../policy/bottles/change-script.ts";
import { EGRESS_DOOR } from "../workspaces/egress-door.ts";
import { runNetwork } from "../workspaces/egress.ts";
import { canChangeEnvironment } from "../workspaces/require-capabilities.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { pruneEnvironments } from "../workspaces/prune-environments.ts";
import { requireOpen } from "../workspaces/renew-workspace.ts";
import { getBackend } from "../workspaces/sandbox.ts";
import type { CallContext } from "../workspaces/verb.ts";
import type { ActiveRun } from "./active-run.ts";
import { commandIn } from "./agent-program.ts";
import { endAgent, signalAgent, startAgent, watchAgent } from "./agent-session.ts";
import { buildChange, kitOf } from "./build-change.ts";
import { commitState, findCommit, forgetOtherCommits, putHome } from "./commit-run.ts";
import type { Launch } from "./launch.ts";
import { planAgain } from "./plan-again.ts";
import type { RunParts } from "./run-parts.ts";

/** A run in the sandbox that it has now. */
export interface MovedRun {
  readonly metadata: RunMetadata;
  readonly live: LiveWorkspace;
  readonly session: AgentSession;
  /** Why it is in its old environment. */
  readonly problem?: Error;
}

/** SECURITY: what the run's own backend does not declare is not done, by whatever code: nothing is touched (G-107) */
export function requireRemediable(
  { deps }: Pick<RunParts, "deps">,
  { identity, backend, environment }: Pick<RunMetadata, "identity" | "backend" | "environment">,
): void {
  if (canChangeEnvironment(getBackend(deps, backend), environment)) return;
  throw failure(
    "REMEDIATION_UNSUPPORTED",
    `The environment "${environment}" of run "${identity}" cannot be changed on the backend "${backend}"`,
  );
}

/** Makes the environment, while the agent goes on in the old one. What is given moves the run there. */
export async function prepareRemediation(
  parts: RunParts,
  run: ActiveRun,
  change: RunChange,
  context: CallContext,
): Promise<{ readonly move: () => Promise<MovedRun> }> {
  const { deps } = parts;
  const { metadata, live } = run;
  requireRemediable(parts, metadata);
  const stored = deps.store.findWorkspace(metadata.workspace_id);
  if (!stored) throw failure("RUN_STATE_INVALID", `The workspace of run "${metadata.identity}" is gone`);
  // Before anything is made: its bottle may have been taken away.
  const plan = await planMoved(parts, run, stored, doneText(change));
  const environment = await buildChange(parts, metadata, kitOf(parts, stored, live), change, context);
  const whole = withProgram(stored.environment, environment);
  await deps.environments.ensure(whole, context);
  const changes = [...metadata.changes, change];
  const target = { environment, changes, whole, plan, old: stored.environment };
  const move = async () => {
    context.progress({ step: "starting the agent again in its changed environment" });
    return await moveRun(parts, run, target);
  };
  return { move };
}

/** Makes the environment of a run again that is taken up after the cache was emptied. */
export async function remakeEnvironment(
  parts: RunParts,
  { identity, workspace_id: id, backend, environment, changes }: RunMetadata,
  { egress, secrets }: Launch,
  context: CallContext,
): Promise<void> {
  const { deps } = parts;
  const changed = changedName(environment);
  const stored = deps.store.findWorkspace(id);
  if (!changed || !stored || (await deps.environments.isBuilt(environment))) return;
  const { network, tokens } = await runNetwork(deps, backend, egress);
  const choice = { network: { ...network, doors: [EGRESS_DOOR] }, tokens };
  const kit = { backend, network: choice, secrets, limits: stored.limits };
  let made = changed.environment;
  for (const change of changes) made = await buildChange(parts, { identity, environment: made }, kit, change, context);
}

/** With the agent's program, where the old one had it. */
function withProgram(old: string, environment: string): string {
  const layered = layeredName(old);
  return layered ? layeredEnvironment(layered.program, environment) : environment;
}

interface Target extends Pick<RunMetadata, "environment" | "changes"> {
  /** With the agent's program. */
  readonly whole: string;
  readonly old: string;
  readonly plan: BottlePlan;
}

/**
 * Ends the agent, freezes what it has, and starts it again with its conversation in a sandbox of the other environment. That sandbox has all before it takes the place of
 * the old one; when it cannot be had, the agent goes on in the old environment.
 */
async function moveRun(parts: RunParts, run: ActiveRun, target: Target): Promise<MovedRun> {
  const { deps, workspaces, states } = parts;
  const { metadata, live, session } = run;
  const { identity, workspace_id: id } = metadata;
  const { environment, changes, whole } = target;
  const signal = new AbortController().signal; // from here on it is done, whoever asked for it
  const ended = watchAgent(deps, live, session);
  // First: should this daemon die now, the next one knows where the run was going, and that it is to be kept.
  await states.write({ ...metadata, stopped_at: deps.clock.now(), moving: { environment, changes, whole } });
  if (!(await signalAgent(live, session, "TERM")))
    throw failure("RUN_NOT_ACTIVE", `The agent of run "${identity}" has just ended`, {
      hint: `Take it up with \`cloche resume ${identity}\`, and approve it then`,
    });
  await endAgent(live, session, { ended, killing: () => undefined });
  let committed_at: number | null = null;
  const go = async (environment: string, plan: BottlePlan): Promise<Omit<MovedRun, "metadata">> => {
    committed_at ??= await commitState(parts, metadata, live, signal);
    const { home, snapshot } = findCommit(parts, identity, { ...metadata, committed_at });
    await workspaces.reset(id, snapshot, { environment, prepare: (next) => putHome(next, home, signal) });
    const next = await workspaces.act("listShells", id, (found) => found.live);
    requireOpen(workspaces.doorsOf(id));
    return { live: next, session: await startAgain(parts, next, plan, session) };
  };
  try {
    const there = await go(whole, target.plan);
    await forgetOtherCommits(parts, metadata);
    return { ...there, metadata: { ...metadata, environment, changes, session: there.session } };
  } catch (problem) {
    deps.log.warn("a run could not be moved to another environment", { identity, reason: messageOf(problem) });
    const stored = deps.store.findWorkspace(id);
    const plan = stored ? await planMoved(parts, run, stored, failedText(problem)) : target.plan;
    // As long as the old sandbox has its place, nothing has changed but that the agent has ended.
    const back = live.isCurrent
      ? { live, session: await startAgain(parts, live, plan, session) }
      : await go(target.old, plan);
    await forgetOtherCommits(parts, metadata);
    await dropEnvironment(parts, target);
    return { ...back, metadata: { ...metadata, session: back.session }, problem: asError(problem) };
  }
}

/** Of a move that failed: no run has it, and it is as large as a system. Never rejects: who prunes later finds it too. */
async function dropEnvironment({ deps }: RunParts, { environment, whole }: Target): Promise<void> {
  const environments = [...new Set([whole, environment])];
  await pruneEnvironments(deps, { environments, dry_run: false }).catch((reason: unknown) => {
    deps.log.warn("cannot remove the environment of a run that could not be moved", { reason: messageOf(reason) });
  });
}

const asError = (problem: unknown): Error => (problem instanceof Error ? problem : new Error(messageOf(problem)));

/** The plan of its next start, with what it is told then. */
async function planMoved(
  { deps }: RunParts,
  { metadata, session, manifest }: ActiveRun,
  stored: StoredWorkspace,
  prompt: string,
): Promise<BottlePlan> {
  const again = { headless: session.kind === "command", prompt, manifest };
  return await planAgain(deps, metadata, again, stored.egress?.standIns);
}

/** Its home has all that a start puts there, so nothing is put there again. */
async function startAgain(
  { deps, shells }: RunParts,
  live: LiveWorkspace,
  plan: BottlePlan,
  before: AgentSession,
): Promise<AgentSession> {
  const names = [...live.secrets.values.keys()];
  return await startAgent(deps, shells, live, {
    argv: commandIn(deps.store.findWorkspace(live.workspaceId)?.environment ?? "", plan.agent_provision),
    env: { ...plan.agent_provision.guest_env, ...plan.env.literals },
    secrets: live.secrets.environment(Object.fromEntries(names.map((name) => [name, name]))),
    cwd: plan.agent_provision.guest_cwd,
    terminal: before.kind === "shell" ? { cols: 80, rows: 24 } : null,
  });
}

function doneText({ packages, steps }: EnvironmentChange): string {
  const what = [
    ...(packages.length > 0 ? [`the packages ${packages.join(", ")}`] : []),
    ...(steps.length > 0 ? [`what ${steps.length === 1 ? "one step" : `${steps.length} steps`} did`] : []),
  ].join(" and ");
  return `The operator approved the change of your environment, and it has ${what} now. You were started again in it: your files and this conversation are kept, processes that ran are gone. Go on with your task.`;
}

const failedText = (problem: unknown): string =>
  `The operator approved the change of your environment, and it failed: ${messageOf(problem)}. You were started again in your old environment: your files and this conversation are kept, processes that ran are gone. Go on without it.`;
