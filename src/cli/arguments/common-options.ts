import { LINK_POLICIES } from "../../model/files.ts";
import { NETWORK_POLICIES, OFFERED_NETWORK_POLICIES } from "../../model/vocabulary.ts";
import type { OptionSpec, PositionalSpec } from "./option-spec.ts";
import { parseCount, parseSecretEnv, parseSeconds, parseVariable } from "./option-values.ts";

/** Options and positionals that several commands share, so that one name means one thing. */
export const WORKSPACE: PositionalSpec = {
  name: "ID",
  description: "The workspace's id, its name, or the first characters of its id",
  completes: "workspace",
};

/** What leaves is a workspace's, and a workspace may be a run's, whose identity is its name. */
export const WORKSPACE_OR_RUN: PositionalSpec = {
  name: "ID|IDENTITY",
  description: "A workspace, by its id, its name or the first characters of its id; or a run",
  completes: "workspace",
};
export const TOLD_WORKSPACE_OR_RUN: PositionalSpec = {
  ...WORKSPACE_OR_RUN,
  description: `${WORKSPACE_OR_RUN.description}; of one that is gone, its whole id or identity`,
};

export const PROPOSAL: PositionalSpec = {
  name: "ID",
  description: "The proposal, by its id or the first characters of it",
  completes: "proposal",
};

export const ENVIRONMENT: PositionalSpec = {
  name: "ENVIRONMENT",
  description:
    "What is in the workspace's system, as in `cloche env list` (default: host, or debian:12 in machines); the steps of dockerfile:FOLDER run behind no wall of cloche's",
  optional: true,
  completes: "environment",
};

export const BACKEND = {
  type: "string",
  value: "BACKEND",
  description:
    "What isolates it, as in `cloche doctor` (default: $CLOCHE_BACKEND, else as in config.yaml, else container)",
  completes: "backend",
} as const satisfies OptionSpec;

export const OCI_RUNTIME = {
  type: "string",
  value: "RUNTIME",
  description: "What builds its wall, such as runsc, where the backend takes one (default: $CLOCHE_OCI_RUNTIME)",
} as const satisfies OptionSpec;

export const SEED_PATH = {
  type: "string",
  value: "PATH",
  description: "A folder, git checkout or archive to copy into /workspace",
  completes: "host-path",
} as const satisfies OptionSpec;

export const NETWORK_POLICY = {
  type: "string",
  value: "POLICY",
  description: "What it may reach (default: off)",
  choices: OFFERED_NETWORK_POLICIES,
  alsoTakes: NETWORK_POLICIES,
} as const satisfies OptionSpec;

export const ALLOW_HOST = {
  type: "string",
  value: "HOST",
  description: "A host that it may reach with policy egress: a name, *.example.com, or '*' for all",
  multiple: true,
} as const satisfies OptionSpec;

export const TIMEOUT_SECONDS = {
  type: "string",
  value: "TIME",
  description: "End the command after this time, in seconds or as 90s, 10m, 2h (default: 30; none with --tty)",
  parse: parseSeconds,
} as const satisfies OptionSpec;

export const TTY = {
  type: "boolean",
  short: "t",
  description: "Give the command a terminal, for a shell or an editor",
} as const satisfies OptionSpec;

export const INTERACTIVE = {
  type: "boolean",
  short: "i",
  description: "Pass standard input on, also what is typed (piped input and --tty do so anyway)",
} as const satisfies OptionSpec;

export const CWD = {
  type: "string",
  value: "PATH",
  description: "The folder under /workspace to run it in",
} as const satisfies OptionSpec;

export const ENV = {
  type: "string",
  short: "e",
  value: "NAME[=VALUE]",
  description: "Set a variable of the command; without a value, as it is here",
  multiple: true,
  parse: parseVariable,
} as const satisfies OptionSpec;

export const VCPU_COUNT = {
  type: "string",
  value: "N",
  description: "How many processors it may use (default: as in config.yaml, else as `cloche doctor` says)",
  parse: parseCount,
} as const satisfies OptionSpec;

export const MEM_MIB = {
  type: "string",
  value: "MIB",
  description: "How much memory it may use (default: as in config.yaml, else as `cloche doctor` says)",
  parse: parseCount,
} as const satisfies OptionSpec;

export const ID_ONLY = {
  type: "boolean",
  description: "Print the id and nothing else",
} as const satisfies OptionSpec;

export const SECRET_ENV = {
  type: "string",
  value: "NAME[=ENV]",
  description: "Put a secret of the workspace into the command's environment",
  multiple: true,
  parse: parseSecretEnv,
} as const satisfies OptionSpec;

export const SERVICE: PositionalSpec = { name: "NAME", description: "The service's name", completes: "service" };

export const SNAPSHOT: PositionalSpec = { name: "NAME", description: "The snapshot's name", completes: "snapshot" };

/** Where a copy goes on this host. */
export const OUTPUT = {
  type: "string",
  value: "HOST_PATH",
  description: "Where it goes",
  required: true,
  completes: "host-path",
} as const satisfies OptionSpec;

export const OVERWRITE = {
  type: "boolean",
  description: "Let a file take the place of a file of the host, and a folder that of an empty one",
} as const satisfies OptionSpec;

/** Of what comes out of a workspace. */
export const LINKS = {
  type: "string",
  value: "HOW",
  description: "Links that lead out: refuse the export, skip them, or keep them as they are (default: refuse)",
  choices: LINK_POLICIES,
} as const satisfies OptionSpec;

export const AGENT = {
  name: "AGENT",
  description: "The agent's name, as in `cloche list`",
  completes: "agent",
} as const satisfies PositionalSpec;

export const BOTTLE = {
  type: "string",
  value: "BOTTLE",
  description: "A bottle in place of the agent's own; several are merged, the later wins",
  multiple: true,
  completes: "bottle",
} as const satisfies OptionSpec;
