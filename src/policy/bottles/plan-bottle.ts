import type { AgentDefinition } from "../../model/agent-definition.ts";
import type {
  BottlePlan,
  BottleSpec,
  EgressPlan,
  EnvPlan,
  GitGatePlan,
  GitIdentity,
  PlannedAgent,
  PlannedUpstream,
  StandIn,
  SupervisePlan,
} from "../../model/bottle-plan.ts";
import { EGRESS_ENVIRONMENT } from "../../model/egress-environment.ts";
import { failure } from "../../model/error-codes.ts";
import { type GitPolicy, upstreamOf } from "../../model/git-policy.ts";
import { SUPERVISE_URL } from "../../model/supervise-door.ts";
import type { Provider, ProviderChoice } from "../../model/provider.ts";
import { envNames, planEnv } from "./env-plan.ts";
import type { MergedBottle } from "./merge-bottles.ts";
import { planProvision } from "./plan-provision.ts";
import { askCredentials, askRoutes } from "./provider-answers.ts";
import { planRoutes, shadowedRoutes, tokenRefs } from "./plan-routes.ts";

export interface PlanInput {
  readonly spec: BottleSpec;
  readonly agent: PlannedAgent;
  readonly definition: AgentDefinition;
  readonly bottleNames: readonly string[];
  readonly merged: MergedBottle;
  readonly provider: Provider;
  readonly choice: ProviderChoice;
  readonly backend: string;
  readonly environment: string;
  readonly session: { readonly id: string; readonly resume: boolean };
  /** A value for a variable of the sandbox in place of a credential; the same for each start of one run. */
  readonly standIn: (variable: string) => string;
  /** In place of the provider's own folder for skills. */
  readonly guestSkillsFolder: string | null;
  /** The doors that this version has, beside the one for egress. */
  readonly served: { readonly git: boolean };
  /** Whether its backend can give the agent another environment than this one. */
  readonly canChangeEnvironment: boolean;
  /** What was noticed before. */
  readonly notes: readonly string[];
}

/** Decides all that a launch does, and does nothing. Throws what is wrong with the manifest. */
export function planBottle(input: PlanInput): BottlePlan {
  const { spec, agent, definition, bottleNames, merged, served } = input;
  const { bottle } = merged;
  const env = planEnv(bottle.env ?? {});
  const supervise = (bottle.supervise ?? true) ? planSupervise(input) : null;
  const egress = planEgress(input, supervise !== null);
  requireFreeNames(env, egress.stand_ins, merged);
  const git = planGitGate(bottle.git, served.git, supervise === null ? "block" : "supervise");
  const identity = identityOf(bottle.git?.user, isOverruled(input) ? undefined : definition.git?.user);
  return {
    spec,
    agent,
    bottle_names: bottleNames,
    backend: input.backend,
    environment: input.environment,
    ...planLimits(bottle.limits ?? {}),
    env,
    git_identity: identity,
    git_gate_plan: git,
    egress_plan: egress,
    agent_provision: planProvision({ ...input, superviseUrl: supervise?.url ?? null, standIns: egress.stand_ins }),
    supervise_plan: supervise,
    notes: [...input.notes, ...notesOn(input, egress, git), ...notesOnSigning(input, identity)],
  };
}

const planSupervise = ({ canChangeEnvironment }: PlanInput): SupervisePlan => ({
  url: SUPERVISE_URL,
  can_change_environment: canChangeEnvironment,
});

/** What the sandbox may have, and what the run may use up. */
function planLimits({
  model_tokens,
  model_requests,
  wall_seconds,
  ...limits
}: NonNullable<PlanInput["merged"]["bottle"]["limits"]>): Pick<BottlePlan, "limits" | "budget"> {
  const budget = Object.entries({ model_tokens, model_requests, wall_seconds });
  return { limits, budget: Object.fromEntries(budget.filter(([, amount]) => amount !== undefined)) };
}

/** The provider's routes and the bottle's own, and how much of them is told. */
export function plannedRoutes(
  { merged, provider, choice }: Pick<PlanInput, "merged" | "provider" | "choice">,
  supervised: boolean,
): Pick<EgressPlan, "log" | "routes"> {
  const routes = planRoutes({
    ofProvider: askRoutes(provider, choice),
    ofBottle: merged.bottle.egress?.routes ?? [],
    errorShape: provider.error_shape,
    onMatch: supervised ? "supervise" : "block",
  });
  return { log: merged.bottle.egress?.log ?? "blocks", routes };
}

function planEgress(input: PlanInput, supervised: boolean): EgressPlan {
  const { provider, choice, standIn } = input;
  const { log, routes } = plannedRoutes(input, supervised);
  const own = askCredentials(provider, choice);
  const refs = new Set([...tokenRefs(routes), ...tokenRefsOfRepos(input.merged.bottle.git)]);
  const others = [...refs].filter((ref) => !own.some(({ token_ref }) => token_ref === ref));
  return {
    log,
    routes,
    stand_ins: [...own, ...others.map((ref) => ({ token_ref: ref, variable: ref }))].map((credential) => ({
      ...credential,
      value: standIn(credential.variable),
    })),
  };
}

const tokenRefsOfRepos = (git: GitPolicy | undefined): string[] =>
  Object.values(git?.repos ?? {}).flatMap(({ auth }) => auth?.token_ref ?? []);

function planGitGate(
  git: GitPolicy | undefined,
  served: boolean,
  onViolation: PlannedUpstream["on_violation"],
): GitGatePlan {
  const upstreams = Object.entries(git?.repos ?? {}).map(([name, repo]) => {
    const { url } = repo;
    const upstream = url === undefined ? undefined : upstreamOf(url);
    if (url === undefined || !upstream) throw failure("MANIFEST_INVALID", `Repository "${name}" has no "url"`);
    return {
      name,
      upstream_host: upstream.host,
      upstream_port: upstream.port,
      repo: { ...repo, url },
      on_violation: repo.on_violation ?? onViolation,
    };
  });
  return { served, upstreams, signing_key: git?.signing?.key ?? null };
}

type MaybeUser = { readonly name?: string | undefined; readonly email?: string | undefined } | undefined;

/**
 * Whether what an agent says of who commits are by does not count.
 *
 * SECURITY: a file of a repository does not say whose name the operator's key signs (G-146)
 */
const isOverruled = ({ agent, definition, merged }: PlanInput): boolean =>
  merged.bottle.git?.signing !== undefined && agent.source === "project" && definition.git?.user !== undefined;

function notesOnSigning(input: PlanInput, identity: GitIdentity | null): string[] {
  const key = input.merged.bottle.git?.signing?.key;
  if (key === undefined) return [];
  const who = [identity?.name, identity?.email && `<${identity.email}>`].filter(Boolean).join(" ");
  return [
    `The host signs what the agent commits as ${who}, with the key ${key}.`,
    ...(isOverruled(input)
      ? [`git.user of agent ${input.agent.name} does not count: a file of the project does not say what is signed.`]
      : []),
  ];
}

/** The agent's over the bottle's, field by field. */
function identityOf(ofBottle: MaybeUser, ofAgent: MaybeUser): GitIdentity | null {
  const name = ofAgent?.name ?? ofBottle?.name ?? null;
  const email = ofAgent?.email ?? ofBottle?.email ?? null;
  return name === null && email === null ? null : { name, email };
}

/** A variable has one meaning: what makes tools use the gate, and what stands in for a credential, is not set by a bottle. */
function requireFreeNames(env: EnvPlan, standIns: readonly StandIn[], { sources }: MergedBottle): void {
  for (const name of envNames(env)) {
    const reason = Object.hasOwn(EGRESS_ENVIRONMENT, name)
      ? "cloche sets it so that tools find the gate"
      : standIns.some(({ variable }) => variable === name)
        ? "it stands in for a credential that the gate puts in"
        : undefined;
    if (reason === undefined) continue;
    throw failure("MANIFEST_INVALID", `Bottle "${sources[`env.${name}`] ?? ""}" cannot set env.${name}: ${reason}`, {
      hint: `Take ${name} out of \`env\``,
    });
  }
}

function notesOn({ merged, provider, choice }: PlanInput, egress: EgressPlan, git: GitGatePlan): string[] {
  const repos = git.upstreams.map(({ name }) => name);
  const ofProvider = egress.routes.filter(({ of_provider }) => of_provider);
  return [
    ...(repos.length > 0 && !git.served
      ? [`The git gate is not served yet: the agent cannot reach ${repos.join(", ")}.`]
      : []),
    ...(choice.auth_token === null &&
    ofProvider.length > 0 &&
    ofProvider.every(({ auth_scheme }) => auth_scheme === null)
      ? [
          `${provider.name} has no credential: name the variable that has one in agent_provider.auth_token of bottle ${merged.names.at(-1) ?? ""}.`,
        ]
      : []),
    ...shadowedRoutes(egress.routes),
  ];
}
