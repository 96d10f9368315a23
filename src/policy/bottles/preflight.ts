import type {
  BottlePlan,
  GitIdentity,
  PlanDocument,
  PlannedRun,
  PlannedUpstream,
  WantedValues,
} from "../../model/bottle-plan.ts";
import { envNames } from "./env-plan.ts";
import { tokenRefs } from "./plan-routes.ts";

/** The plan for programs: names, and no value. */
export function planDocument(plan: BottlePlan): PlanDocument {
  return {
    agent: plan.agent.name,
    provider: plan.agent_provision.provider,
    bottle: plan.bottle_names.join(", "),
    backend: plan.backend,
    environment: plan.environment,
    env_names: shownEnvNames(plan),
    skills: [...plan.agent.skills],
    git_identity: plan.git_identity && { ...plan.git_identity },
    git_gate: plan.git_gate_plan.upstreams.map(({ name, upstream_host, upstream_port }) => ({
      name,
      upstream_host,
      upstream_port,
    })),
    egress: plan.egress_plan.routes.map(({ route, auth_scheme }) => ({ host: route.host, auth_scheme })),
    supervise: plan.supervise_plan !== null,
  };
}

/** SECURITY: names only; a value of a bottle's or of the agent's is in no preflight (G-62) */
function shownEnvNames({ env, agent_provision: { guest_env, hidden_env_names } }: BottlePlan): string[] {
  const names = new Set([...envNames(env), ...Object.keys(guest_env)]);
  for (const hidden of hidden_env_names) names.delete(hidden);
  return [...names].sort();
}

/** The plan for people: the same on every backend, because this is the only place that writes it. */
export function preflightText(plan: BottlePlan): string {
  const document = planDocument(plan);
  const rows: [string, string[]][] = [
    ["agent", [document.agent]],
    ["provider", [document.provider]],
    ["env", joined(document.env_names)],
    ["skills", joined(document.skills)],
    ["bottle", [document.bottle]],
    ["git identity", plan.git_identity ? [identityText(plan.git_identity)] : []],
    ["git gate", plan.git_gate_plan.upstreams.map(upstreamText)],
    ["egress", document.egress.map(({ host, auth_scheme }) => (auth_scheme ? `${host} [auth:${auth_scheme}]` : host))],
  ];
  const lines = rows.flatMap(([title, values]) =>
    (values.length === 0 ? ["(none)"] : values).map(
      (value, index) => `  ${(index === 0 ? title : "").padEnd(14)}${value}`,
    ),
  );
  return `\n${lines.join("\n")}\n\n`;
}

const joined = (names: readonly string[]): string[] => (names.length === 0 ? [] : [names.join(", ")]);

const identityText = ({ name, email }: GitIdentity): string =>
  [name, email === null ? null : `<${email}>`].filter((part) => part !== null).join(" ");

const upstreamText = ({ name, upstream_host: host, upstream_port: port }: PlannedUpstream): string =>
  `${name} → ${port === null ? host : `${host}:${port}`}`;

/** What a launch needs of whoever asks for it, in the order in which it is asked for. */
export function wantedValues({
  env,
  egress_plan: { routes, stand_ins },
  git_gate_plan: git,
}: BottlePlan): WantedValues {
  const refs = [
    ...env.taken.map(({ variable }) => variable),
    ...stand_ins.map(({ token_ref }) => token_ref),
    ...tokenRefs(routes),
    ...(git.served ? git.upstreams.flatMap(({ repo }) => repo.auth?.token_ref ?? []) : []),
  ];
  return { variables: [...new Set(refs)], questions: env.asked.map((question) => ({ ...question })) };
}

/** What whoever would start it is told. */
export const plannedRun = (plan: BottlePlan): PlannedRun => ({
  plan: planDocument(plan),
  preflight: preflightText(plan),
  notes: [...plan.notes],
  wanted: wantedValues(plan),
});
