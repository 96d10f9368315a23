import { setImmediate } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import type { AgentList, ListedAgent, ListedBottle } from "../model/bottle-plan.ts";
import { chooseProvider } from "../policy/bottles/choose-provider.ts";
import { mergeBottles } from "../policy/bottles/merge-bottles.ts";
import { findProvider } from "./find-provider.ts";
import type { Manifest, NamedDefinition } from "./manifest.ts";
import { chooseBottle } from "./plan-run.ts";

/** All there are, also those that cannot be used, with the reason. */
export async function listAgents(home: string, manifest: Manifest): Promise<AgentList> {
  const agents: ListedAgent[] = [];
  for (const one of manifest.agents()) {
    agents.push(await listAgent(home, manifest, one));
    // SECURITY: a repository may bring as many as it likes, and others are served in between (G-25)
    await setImmediate();
  }
  return {
    agents,
    bottles: manifest.bottles().map((one) => listBottle(manifest, one)),
    notes: [...manifest.notes()],
  };
}

async function listAgent(
  home: string,
  manifest: Manifest,
  { name, source, path }: NamedDefinition,
): Promise<ListedAgent> {
  const listed: ListedAgent = { name, bottle: null, provider: null, source, path, problem: null };
  try {
    const agent = manifest.agent(name);
    listed.bottle = agent.definition.bottle ?? null;
    const { merged } = chooseBottle(manifest, name);
    const { template } = chooseProvider(merged.bottle.agent_provider, {
      ...agent,
      provider: agent.definition.provider,
    });
    listed.provider = (await findProvider(home, template)).name;
  } catch (error) {
    listed.problem = messageOf(error);
  }
  return listed;
}

function listBottle(manifest: Manifest, { name, path }: NamedDefinition): ListedBottle {
  const listed: ListedBottle = { name, extends: [], path, problem: null };
  try {
    listed.extends = [manifest.bottle(name).extends ?? []].flat();
    mergeBottles([name], (bottle, child) => manifest.bottle(bottle, child));
  } catch (error) {
    listed.problem = messageOf(error);
  }
  return listed;
}
