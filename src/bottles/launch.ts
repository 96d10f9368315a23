import { messageOf } from "../base/errors.ts";
import { layeredName } from "../contracts/environment.ts";
import type { BottlePlan } from "../model/bottle-plan.ts";
import type { AgentSession, RunMetadata } from "../model/run.ts";
import { resolveEnv } from "../policy/bottles/env-plan.ts";
import type { Proposal } from "../model/proposal.ts";
import { addsOf, isSameForRun } from "../policy/supervise/adds.ts";
import { mergeRoutes } from "../policy/supervise/merge-routes.ts";
import { requireToken } from "../policy/bottles/provider-answers.ts";
import type { RunEgress } from "../workspaces/egress.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { runKey } from "../workspaces/made-for-run.ts";
import type { CallContext } from "../workspaces/verb.ts";
import { chooseProgram, commandIn } from "./agent-program.ts";
import { startAgent } from "./agent-session.ts";
import { type CommittedRun, putHome } from "./commit-run.ts";
import { findProvider } from "./find-provider.ts";
import { provision } from "./provision.ts";
import { runEgress } from "./run-egress.ts";
import { runGit, signingPublicKey } from "./run-git.ts";
import type { RunParts } from "./run-parts.ts";
import { findSkills, type Skill } from "./skills.ts";

/** What whoever asks for a start gives along. */
export interface LaunchInput {
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly answers?: Readonly<Record<string, string>> | undefined;
  readonly skills_path?: string | undefined;
  readonly search_path?: string | undefined;
  readonly terminal?: { readonly cols: number; readonly rows: number } | undefined;
}

/** A shorter value is in everything that is printed: the agent gets it, and nobody looks for it. */
const SHORTEST_SECRET_BYTES = 4;

/** All that a launch needs, checked and in memory, before anything is made. */
export interface Launch {
  readonly plan: BottlePlan;
  readonly skills: readonly Skill[];
  /** Where to look for the agent's program on this host. */
  readonly searchPath: string | undefined;
  readonly egress: RunEgress;
  /** Of the key that the host signs with; null for none. */
  readonly signingKey: string | null;
  /** The values that count as secrets, by the variable of the sandbox. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
  /** The variables of the agent that are none. */
  readonly env: Readonly<Record<string, string>>;
  readonly terminal: { readonly cols: number; readonly rows: number } | null;
  /** What it begins with in the place of a project. */
  readonly from?: CommittedRun | undefined;
}

export async function prepareLaunch(home: string, plan: BottlePlan, input: LaunchInput): Promise<Launch> {
  const { variables = {}, answers = {} } = input;
  const { provider, choice } = plan.agent_provision;
  const token = choice.auth_token === null ? undefined : variables[choice.auth_token];
  if (token !== undefined) requireToken(await findProvider(home, provider), choice, token);
  const { values, secret_names } = resolveEnv(plan.env, { variables, answers });
  const isSecret = (name: string) =>
    secret_names.includes(name) && Buffer.byteLength(values[name] ?? "") >= SHORTEST_SECRET_BYTES;
  const secrets = Object.entries(values).flatMap(([name, value]) => (isSecret(name) ? [{ name, value }] : []));
  const plain = Object.entries(values).filter(([name]) => !isSecret(name));
  return {
    plan,
    skills: await findSkills(plan.agent.skills, input.skills_path),
    searchPath: input.search_path,
    egress: runEgress(plan, variables, await runGit(plan, variables)),
    signingKey: plan.git_gate_plan.signing_key === null ? null : signingPublicKey(plan.git_gate_plan.signing_key),
    secrets,
    env: { ...plan.agent_provision.guest_env, ...Object.fromEntries(plain) },
    terminal: input.terminal ?? null,
  };
}

/** Routes that the operator has approved for a run, and the sentence that was read then. */
export type ApprovedRoutes = Pick<Proposal<"egress-block">, "proposed" | "adds">;

/**
 * With routes that were approved for the run: they hold as long as it does.
 *
 * SECURITY: an approval is for what was read: where a credential would go along by now, or more be let out, the agent has to ask again (G-184)
 */
export function withRoutes(launch: Launch, approved: readonly ApprovedRoutes[]): Launch {
  const { egress } = launch;
  let { routes = [] } = egress.policy;
  for (const { proposed, adds } of approved)
    if (isSameForRun(addsOf("egress-block", proposed, { routes }), adds))
      routes = mergeRoutes(routes, proposed.routes, "supervise");
  return { ...launch, egress: { ...egress, policy: { ...egress.policy, routes } } };
}

/** Makes the workspace of a run, whose id its state names already. */
export async function makeWorkspace(
  { deps, workspaces }: RunParts,
  { identity, workspace_id: workspaceId }: RunMetadata,
  { plan, secrets, egress, from, searchPath }: Launch,
  { signal, progress }: CallContext,
): Promise<void> {
  const { backend, limits, spec } = plan;
  const program = chooseProgram(plan, searchPath);
  const environment = program
    ? await deps.environments.addProgram(plan.environment, program, { signal, progress })
    : plan.environment;
  deps.events.identify(workspaceId, identity);
  const create = () =>
    workspaces.create(
      {
        environment,
        backend,
        name: identity,
        ...(spec.copy_cwd && !from && { seed_path: spec.project_path }),
        secrets: [...secrets],
        keep: true, // while there is a run, nobody else ends it
        idempotency_key: runKey(identity),
      },
      { signal, progress, run: { workspaceId, egress, limits, from } },
    );
  // Nothing that it stands on goes meanwhile.
  await (from ? workspaces.turns.take(from.stored.workspaceId, create) : create());
}

/** Has the program again for a workspace that was made with it: what is in the cache may go at any time. */
export async function keepProgram(
  { deps }: RunParts,
  { workspace_id: workspaceId }: RunMetadata,
  { plan, searchPath }: Launch,
  { signal, progress }: CallContext,
): Promise<void> {
  const stored = deps.store.findWorkspace(workspaceId);
  if (!stored || !layeredName(stored.environment) || (await deps.environments.isBuilt(stored.environment))) return;
  const program = chooseProgram(plan, searchPath);
  if (program) await deps.environments.addProgram(plan.environment, program, { signal, progress });
}

/** Puts everything where the agent finds it, and starts it. */
export async function beginAgent(
  { deps, shells }: RunParts,
  live: LiveWorkspace,
  launch: Launch,
  { signal }: CallContext,
): Promise<AgentSession> {
  const { plan, secrets, env, terminal, from } = launch;
  if (from) await putHome(live, from.home, signal);
  await provision(live, launch, signal);
  signal.throwIfAborted();
  return await startAgent(deps, shells, live, {
    argv: commandIn(deps.store.findWorkspace(live.workspaceId)?.environment ?? "", plan.agent_provision),
    env,
    secrets: live.secrets.environment(Object.fromEntries(secrets.map(({ name }) => [name, name]))),
    cwd: plan.agent_provision.guest_cwd,
    terminal,
  });
}

/** Takes back what a failed launch has made. What cannot be taken back now is found by a clean-up. */
export async function undoLaunch(
  { deps, workspaces, states }: RunParts,
  { identity, workspace_id: workspaceId }: RunMetadata,
): Promise<void> {
  try {
    if (deps.store.findWorkspace(workspaceId)) await workspaces.delete(workspaceId);
    deps.events.forget(workspaceId);
    await states.remove(identity);
  } catch (error) {
    deps.log.error("cannot take back a launch", { identity, error: messageOf(error) });
  }
}
