import type { AgentDetail, BottlePlan, SourcedField } from "../model/bottle-plan.ts";
import type { Route } from "../model/egress.ts";
import { planDocument, wantedValues } from "../policy/bottles/preflight.ts";
import type { ChosenBottle } from "./plan-run.ts";

/** Everything about an agent, with the source of each field. */
export function describeAgent({ agent, merged, plan }: ChosenBottle & { readonly plan: BottlePlan }): AgentDetail {
  const { path, source, prompt } = agent;
  return {
    ...planDocument(plan),
    path,
    source,
    prompt: prompt.trim().split("\n", 1)[0] || null,
    merged_bottles: [...merged.names],
    fields: fieldsOf(agent, merged, plan),
    wanted: wantedValues(plan),
    notes: [...plan.notes],
  };
}

function fieldsOf(
  agent: ChosenBottle["agent"],
  { bottle, sources }: ChosenBottle["merged"],
  plan: BottlePlan,
): SourcedField[] {
  const ofAgent = `agent ${agent.name}`;
  const { definition } = agent;
  const field = (name: string, value: string, key = name): SourcedField => ({
    field: name,
    value,
    source: sources[key] === undefined ? "default" : `bottle ${sources[key]}`,
  });
  const below = (prefix: string, object: object | undefined): SourcedField[] =>
    Object.entries(object ?? {}).map(([key, value]) => field(`${prefix}.${key}`, shown(value)));
  return [
    { field: "skills", value: plan.agent.skills.join(", ") || "(none)", source: ofAgent },
    definition.provider === undefined
      ? field("provider", plan.agent_provision.provider, "agent_provider")
      : { field: "provider", value: definition.provider, source: ofAgent },
    field("environment", plan.environment),
    field("backend", plan.backend),
    ...Object.entries(bottle.env ?? {}).map(([name, value]) => field(`env.${name}`, variableText(value))),
    ...plan.egress_plan.routes
      .filter(({ of_provider }) => of_provider)
      .map(({ route }) => ({
        field: `egress.routes.${route.host}`,
        value: routeText(route),
        source: `provider ${plan.agent_provision.provider}`,
      })),
    ...(bottle.egress?.routes ?? []).map((route) => field(`egress.routes.${route.host}`, routeText(route))),
    field("egress.log", plan.egress_plan.log),
    ...(["name", "email"] as const).flatMap((key) => {
      const value = plan.git_identity?.[key] ?? null;
      if (value === null) return [];
      const isAgents = Object.hasOwn(definition.git?.user ?? {}, key);
      return [isAgents ? { field: `git.user.${key}`, value, source: ofAgent } : field(`git.user.${key}`, value)];
    }),
    ...Object.entries(bottle.git?.repos ?? {}).flatMap(([name, repo]) => below(`git.repos.${name}`, repo)),
    ...below("limits", bottle.limits),
    field("supervise", String(plan.supervise_plan !== null)),
  ];
}

/** How a variable gets its value; a literal stays in its file. */
function variableText(value: string): string {
  if (value.startsWith("?")) return "asked at launch";
  return /^\$\{\w+\}$/.test(value) ? `taken from ${value}` : "a literal";
}

function routeText({ auth, matches, tls, connect }: Route): string {
  const schemes = [auth ?? []].flat().map(({ scheme, token_ref }) => `${scheme} from ${token_ref ?? "a command"}`);
  return (
    [
      ...schemes,
      ...(matches ? [`${matches.length} ${matches.length === 1 ? "match" : "matches"}`] : []),
      ...(tls === "passthrough" ? ["passthrough"] : []),
      ...(connect === undefined ? [] : [`dials ${connect}`]),
    ].join(", ") || "all requests"
  );
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
