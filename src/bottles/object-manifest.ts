import { failure } from "../model/error-codes.ts";
import { checkAgentObject, checkBottle, type Checked } from "../policy/bottles/check-definition.ts";
import type { Manifest, NamedDefinition } from "./manifest.ts";
import { agentMissing, bottleMissing } from "./missing.ts";

/** As it comes over the wire; each entry is checked when it is asked for. */
export interface ManifestObject {
  readonly bottles: Readonly<Record<string, unknown>>;
  readonly agents: Readonly<Record<string, unknown>>;
}

/** The same as files, given by a program. It is the caller's own, so it may bring bottles. */
export function objectManifest({ bottles, agents }: ManifestObject): Manifest {
  const listed = (entries: object): NamedDefinition[] =>
    Object.keys(entries)
      .sort()
      .map((name) => ({ name, source: "object", path: null }));
  return {
    bottle(name, child) {
      if (!Object.hasOwn(bottles, name)) throw bottleMissing(name, child, listed(bottles));
      return usable(checkBottle(bottles[name]), `bottles.${name}`);
    },
    agent(name) {
      if (!Object.hasOwn(agents, name)) throw agentMissing(name, listed(agents), "");
      const { prompt = "", ...definition } = usable(checkAgentObject(agents[name]), `agents.${name}`);
      return { name, definition, prompt: prompt.trim() === "" ? "" : prompt, source: "object", path: null };
    },
    bottles: () => listed(bottles),
    agents: () => listed(agents),
    notes: () => [],
  };
}

function usable<Definition>(checked: Checked<Definition>, place: string): Definition {
  if ("definition" in checked) return checked.definition;
  throw failure("MANIFEST_INVALID", `Cannot use "${place}" of the manifest: ${checked.problem}`, {
    hint: "Correct that part of the object",
  });
}
