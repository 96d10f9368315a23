import type { Budget } from "./budget.ts";
import type { EgressLog, OnMatch, Route } from "./egress.ts";
import type { ProviderShape } from "./egress-order.ts";
import type { GitRepo } from "./git-policy.ts";
import type { AgentProgram, ProvidedFile, ProviderChoice } from "./provider.ts";
import type { Limits } from "./workspace.ts";

/** What somebody asked for, before any file was read. */
export interface BottleSpec {
  readonly agent_name: string;
  /** In place of the agent's own bottle; none: the agent's. */
  readonly bottle_names: readonly string[];
  readonly backend: string | null;
  /** Where whoever asks stands: agents of the project are looked for there. */
  readonly project_path: string;
  /** Whether `/workspace` begins with that folder. */
  readonly copy_cwd: boolean;
  readonly headless: boolean;
  /** The task. */
  readonly prompt: string | null;
  readonly label: string | null;
  readonly color: string | null;
}

/** Where an agent was found. `project`: below the folder that the user stands in, which may be anybody's. */
export type AgentSource = "home" | "project" | "object";

export interface PlannedAgent {
  readonly name: string;
  readonly source: AgentSource;
  /** Null for one that came as an object. */
  readonly path: string | null;
  /** The body of its file. */
  readonly prompt: string;
  /** As written. */
  readonly skills: readonly string[];
}

/** The variables of a bottle. `taken` and `asked` have no value before the launch, and count as secrets then. */
export interface EnvPlan {
  readonly literals: Readonly<Record<string, string>>;
  readonly taken: readonly { readonly name: string; readonly variable: string }[];
  readonly asked: readonly { readonly name: string; readonly text: string }[];
}

export interface GitIdentity {
  readonly name: string | null;
  readonly email: string | null;
}

export interface PlannedUpstream {
  readonly name: string;
  readonly upstream_host: string;
  /** Null for a file. */
  readonly upstream_port: number | null;
  readonly repo: GitRepo & { readonly url: string };
  readonly on_violation: "block" | "supervise";
}

export interface GitGatePlan {
  /** Whether this version of cloche has the door. */
  readonly served: boolean;
  /** As written. */
  readonly upstreams: readonly PlannedUpstream[];
  /** The file with the key that the host signs with; null for none. */
  readonly signing_key: string | null;
}

export interface PlannedRoute {
  readonly route: Route;
  /** `Bearer`, or `Bearer+ApiKey` for two; null without a credential. */
  readonly auth_scheme: string | null;
  readonly outbound_on_match: OnMatch;
  /** Of the agent's own model: what is refused there is told in this shape, and stand-ins pass. Null for all others. */
  readonly error_shape: ProviderShape | null;
  /** Whether the provider brought it. */
  readonly of_provider: boolean;
}

/** A value of the sandbox in place of a credential. */
export interface StandIn {
  /** The variable of whoever launches, with the real one. */
  readonly token_ref: string;
  /** The variable of the sandbox. */
  readonly variable: string;
  readonly value: string;
}

export interface EgressPlan {
  readonly log: EgressLog;
  /** The provider's first, then as written. */
  readonly routes: readonly PlannedRoute[];
  readonly stand_ins: readonly StandIn[];
}

export interface AgentProvision {
  readonly provider: string;
  /** What the bottle says about it. */
  readonly choice: ProviderChoice;
  readonly program: AgentProgram;
  /** The whole command. */
  readonly argv: readonly string[];
  readonly guest_home: string;
  readonly guest_cwd: string;
  /** Always written, with the prompt of the agent; in `argv` only when that is not empty. */
  readonly prompt_file: string;
  readonly guest_env: Readonly<Record<string, string>>;
  /** Of the guest's variables, those that no preflight shows. */
  readonly hidden_env_names: readonly string[];
  /** In the order in which they are written. */
  readonly files: readonly ProvidedFile[];
  /** Absolute, in the sandbox. */
  readonly skills_folder: string;
  /** By which the agent can take up its conversation. */
  readonly session_id: string;
}

export interface SupervisePlan {
  /** Where the agent finds the tools with which it asks. */
  readonly url: string;
  /** Whether it may ask for another environment: its backend and its environment decide. */
  readonly can_change_environment: boolean;
}

/** All that a launch does, decided before anything is done. No backend has its own. Holds literals and stand-ins: for no log and no disk. */
export interface BottlePlan {
  readonly spec: BottleSpec;
  readonly agent: PlannedAgent;
  /** The agent's, or those that were asked for in its place; without their parents. */
  readonly bottle_names: readonly string[];
  readonly backend: string;
  readonly environment: string;
  readonly limits: Limits;
  /** What a run may use up before the operator is asked. */
  readonly budget: Budget;
  readonly env: EnvPlan;
  readonly git_identity: GitIdentity | null;
  readonly git_gate_plan: GitGatePlan;
  readonly egress_plan: EgressPlan;
  readonly agent_provision: AgentProvision;
  /** Null where it is switched off: then the door is not there. */
  readonly supervise_plan: SupervisePlan | null;
  /** What a user should know, in sentences. */
  readonly notes: readonly string[];
}

/** The plan as everybody may see it: names, and no value. */
export interface PlanDocument {
  agent: string;
  provider: string;
  bottle: string;
  backend: string;
  environment: string;
  env_names: string[];
  skills: string[];
  git_identity: { name: string | null; email: string | null } | null;
  git_gate: { name: string; upstream_host: string; upstream_port: number | null }[];
  egress: { host: string; auth_scheme: string | null }[];
  supervise: boolean;
}

/** What a launch needs of whoever asks for it. */
export interface WantedValues {
  /** Names of variables in their environment. */
  variables: string[];
  /** To be asked on their terminal. */
  questions: { name: string; text: string }[];
}

/** A run that could be started. */
export interface PlannedRun {
  plan: PlanDocument;
  /** The plan for people, the same on every backend. */
  preflight: string;
  notes: string[];
  wanted: WantedValues;
}

/** A field of a merged bottle, and where it comes from. */
export interface SourcedField {
  /** `env.LOG_LEVEL`, `egress.routes.example.com`, `git.user.name`. */
  field: string;
  /** As it was written; of a variable, how it gets its value, and not the value. */
  value: string;
  /** `bottle dev`, `agent reviewer`, `default`. */
  source: string;
}

/** An agent with all that it would have. */
export interface AgentDetail extends PlanDocument {
  path: string | null;
  source: AgentSource;
  /** The first line of its prompt; null when it has none. */
  prompt: string | null;
  /** All that were merged, parents first. */
  merged_bottles: string[];
  fields: SourcedField[];
  wanted: WantedValues;
  notes: string[];
}

export interface ListedAgent {
  name: string;
  /** Null where it names none, or cannot be read. */
  bottle: string | null;
  provider: string | null;
  source: AgentSource;
  path: string | null;
  /** Why it cannot be started, as a sentence. */
  problem: string | null;
}

export interface ListedBottle {
  name: string;
  extends: string[];
  path: string | null;
  problem: string | null;
}

export interface AgentList {
  agents: ListedAgent[];
  bottles: ListedBottle[];
  notes: string[];
}

/** What `init` wrote, and what was there before and stays as it is. */
export interface ManifestStarted {
  agent: string;
  bottle: string;
  written: string[];
  kept: string[];
}
