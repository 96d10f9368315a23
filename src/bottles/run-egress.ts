import type { BottlePlan, PlannedRoute } from "../model/bottle-plan.ts";
import type { Route } from "../model/egress.ts";
import type { RunEgress, RunGit } from "../workspaces/egress.ts";

/** What the gate of a run lets out, by its plan. SECURITY: the variables of whoever launches are for the gate only; the sandbox has stand-ins (G-66) */
export function runEgress(
  { egress_plan: egress, supervise_plan: supervise, budget }: BottlePlan,
  variables: Readonly<Record<string, string>>,
  git: RunGit | null,
): RunEgress {
  return {
    git,
    supervise: supervise && { canChangeEnvironment: supervise.can_change_environment },
    budget,
    policy: { log: egress.log, routes: egress.routes.map(decidedRoute) },
    tokens: variables,
    standIns: Object.fromEntries(egress.stand_ins.map(({ variable, value }) => [variable, value])),
    providers: Object.fromEntries(
      egress.routes.flatMap(({ of_provider, route, error_shape }) => (of_provider ? [[route.host, error_shape]] : [])),
    ),
  };
}

/** What happens to a finding was decided with the plan; in a tunnel there are none. */
export function decidedRoute({ route, outbound_on_match }: PlannedRoute): Route {
  return route.tls === "passthrough" ? route : { ...route, dlp: { ...route.dlp, outbound_on_match } };
}
