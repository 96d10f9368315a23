import { setImmediate } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import type { AgentList, ListedAgent, ListedBottle } from "../model/bottle-plan.ts";
import { chooseProvider, providerOf } from "../policy/bottles/choose-provider.ts";
import { mergeBottles } from "../policy/bottles/merge-bottles.ts";
import { requireFit } from "../policy/bottles/provider-answers.ts";
import { findProvider } from "./find-provider.ts";
import type { Manifest, NamedDefinition } from "./manifest.ts";
import { chooseBottle } from "./plan-run.ts";

/** All there are, also those that cannot be used, with the reason. */
export async function listAgents(home: string, manifest: Manifest, signal: AbortSignal): Promise<AgentList> {
  const agents: ListedAgent[] = [];
  for (const one of manifest.agents()) {
    agents.push(await listAgent(home, manifest, one));
    // SECURITY: a repository may bring as many as it likes: others are served in between, and nobody reads on for a user who has gone (G-25)
    await setImmediate();
    signal.throwIfAborted();
  }
  return {
    agents,
    bottles: await Promise.all(manifest.bottles().map((one) => listBottle(home, manifest, one))),
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
    const { template, choice } = chooseProvider(merged.bottle.agent_provider, {
      ...agent,
      provider: agent.definition.provider,
    });
    const provider = await findProvider(home, template);
    listed.provider = provider.name;
    requireFit(provider, choice, merged.sources["agent_provider"] ?? agent.definition.bottle ?? name);
  } catch (error) {
    listed.problem = messageOf(error);
  }
  return listed;
}

async function listBottle(home: string, manifest: Manifest, { name, path }: NamedDefinition): Promise<ListedBottle> {
  const listed: ListedBottle = { name, extends: [], path, problem: null };
  try {
    listed.extends = [manifest.bottle(name).extends ?? []].flat();
    const { bottle, sources } = mergeBottles([name], (one, child) => manifest.bottle(one, child));
    // One that says nothing about an agent is for others to build on.
    if (bottle.agent_provider) {
      const { template, choice } = providerOf(bottle.agent_provider);
      requireFit(await findProvider(home, template), choice, sources["agent_provider"] ?? name);
    }
  } catch (error) {
    listed.problem = messageOf(error);
  }
  return listed;
}
