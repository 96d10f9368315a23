import type { AgentDefinition } from "../model/agent-definition.ts";
import type { Bottle } from "../model/bottle.ts";
import type { AgentSource } from "../model/bottle-plan.ts";

/** An agent as it was found. */
export interface FoundAgent {
  readonly name: string;
  readonly definition: AgentDefinition;
  readonly prompt: string;
  readonly source: AgentSource;
  /** Null for one that came as an object. */
  readonly path: string | null;
}

/** One that is there by its name; whether it can be used is known when it is asked for. */
export interface NamedDefinition {
  readonly name: string;
  readonly source: AgentSource;
  readonly path: string | null;
}

/** Where bottles and agents come from: files, or an object. What is broken stops only what asks for it. */
export interface Manifest {
  /** `child` is the bottle that extends it. Throws BOTTLE_NOT_FOUND and MANIFEST_INVALID. */
  bottle(name: string, child?: string): Bottle;
  /** Throws AGENT_NOT_FOUND and MANIFEST_INVALID. */
  agent(name: string): FoundAgent;
  bottles(): readonly NamedDefinition[];
  agents(): readonly NamedDefinition[];
  /** What a user should know, in sentences; about the agent that was asked for, if one was. */
  notes(agent?: string): readonly string[];
}
