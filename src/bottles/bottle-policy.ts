import type { Egress } from "../model/egress.ts";
import { chooseProvider } from "../policy/bottles/choose-provider.ts";
import { mergeBottles } from "../policy/bottles/merge-bottles.ts";
import { plannedRoutes } from "../policy/bottles/plan-bottle.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { findProvider } from "./find-provider.ts";
import { manifestFiles } from "./manifest-files.ts";
import { decidedRoute } from "./run-egress.ts";

/** What a run in a bottle of the home would let out, for an agent that names no provider of its own. */
export async function bottlePolicy({ home }: Pick<Dependencies, "home">, name: string): Promise<Egress> {
  const manifest = manifestFiles(home, home);
  const merged = mergeBottles([name], (bottle, child) => manifest.bottle(bottle, child));
  const nobody = { name, source: "home", provider: undefined } as const;
  const { template, choice } = chooseProvider(merged.bottle.agent_provider, nobody);
  const provider = await findProvider(home, template);
  const { log, routes } = plannedRoutes({ merged, provider, choice }, false);
  return { log, routes: routes.map(decidedRoute) };
}
