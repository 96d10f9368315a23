import { z } from "zod";
import { AllowedHost, type EgressInput } from "../egress.ts";
import { Command } from "../exec.ts";
import { IDENTITY, MANIFEST_NAME, NAME, NetworkPolicy, SECRET_NAME } from "../names.ts";
import { path } from "../path.ts";
import { ReadScope } from "../read-scope.ts";
import { IncludeGlob } from "../seed-content.ts";
import { PublishedPort, Readiness } from "../service.ts";
import { Labels, SeedOrigin, WorkspaceName } from "../workspace.ts";

/** What inputs are made of: zod, and the fields that several operations share. Rows get it when somebody has an input to check. */
export { z, path, AllowedHost, Labels, NetworkPolicy, PublishedPort, Readiness, ReadScope, SeedOrigin, WorkspaceName };

/** Its id, its name, or the first characters of its id. */
export const workspaceId = z.string().min(1).max(64);
export const ttlSeconds = z.number().positive().max(31_536_000);
/** Checked as a whole where it is used, so that what is wrong with it can be told with its place. */
export const EgressPolicy = z.custom<EgressInput>((value) => typeof value === "object" && value !== null);
/** Values of the variables that a policy names with `token_ref`. */
export const egressTokens = z.record(z.string().regex(SECRET_NAME), z.string().max(65_536));
/** Of a run. */
export const identity = z
  .string()
  .regex(IDENTITY, "an identity is lower-case letters, digits and '-', and starts with a letter");

/** Of a bottle or an agent. */
export const manifestName = z
  .string()
  .regex(MANIFEST_NAME, "it is lower-case letters, digits and '-', and starts with a letter");
/** Its id, or the first characters of it. */
export const proposalId = z.string().min(1).max(64);

export const name = z
  .string()
  .regex(NAME, "a name is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit");

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name is letters, digits and '_', and starts with no digit");

export const secretName = z
  .string()
  .regex(SECRET_NAME, "a secret's name is 1 to 64 letters, digits or '_', and starts with no digit");

/** A secret is given by its value, or by a file of the host that holds it. */
export const Secret = z.union([
  z.strictObject({ name: secretName, value: z.string() }),
  // `within`: refused unless the file's real path is that folder's or below it.
  z.strictObject({ name: secretName, file_path: path, within: path.optional() }),
]);

/** Which secret a command gets in which variable. */
export const secretEnv = z.record(secretName, variable);

export const terminalSize = { cols: z.number().int().min(1).max(1000), rows: z.number().int().min(1).max(1000) };

/** What every way to run something takes. */
export const commandFields = {
  command: Command,
  cwd: path.optional(),
  env: z.record(variable, z.string().max(131_072)).optional(),
  secret_env: secretEnv.optional(),
};

export const execFields = { ...commandFields, timeout_seconds: z.number().positive().max(86_400).optional() };

/** How long a workspace stays, and what it gets of the host. */
export const lifeFields = {
  ttl_seconds: ttlSeconds.optional(),
  vcpu_count: z.number().int().min(1).max(256).optional(),
  mem_mib: z.number().int().min(64).max(1_048_576).optional(),
};

export const snapshotFields = { workspace_id: workspaceId, snapshot_name: name };
export const serviceFields = { workspace_id: workspaceId, service_name: name };
export const shellFields = { workspace_id: workspaceId, shell_id: z.string().min(1).max(64) };
/** A command that still runs. */
export const runningFields = { workspace_id: workspaceId, sequence: z.number().int().min(1) };

const MAX_TEXT = 16_777_216;
export const longText = z.string().max(MAX_TEXT);
export const maxBytes = z.number().int().min(1).max(268_435_456);
/** For a caller that is trusted with one folder: refused where a link is on the way to the output, and nothing of git comes along. */
export const cautious = z.boolean().optional();

/** Which files that git ignores come along with a seed. */
export const includeFields = {
  include_ignored: z.boolean().optional(),
  include: z.array(IncludeGlob).max(64).optional(),
};

const word = z.string().min(1).max(256);
/** Where agents and bottles are looked for: the home and the project, or an object in their place. */
export const manifestFields = {
  project_path: path,
  manifest: z.strictObject({ bottles: z.record(word, z.unknown()), agents: z.record(word, z.unknown()) }).optional(),
};

/** What a run is made from. */
export const runFields = {
  ...manifestFields,
  agent: word,
  /** In place of the agent's bottle. */
  bottles: z.array(word).max(32).optional(),
  backend: z.string().min(1).max(64).optional(),
  /** Where neither `backend` nor the bottle says one. */
  default_backend: z.string().min(1).max(64).optional(),
  /** A run that was committed: its files, its home and its environment are what this one begins with. */
  from: identity.optional(),
  /** Whether `/workspace` begins with the project. */
  copy_cwd: z.boolean().optional(),
  headless: z.boolean().optional(),
  prompt: longText.min(1).optional(),
  label: z
    .string()
    .max(256)
    .regex(/^[^\p{Cc}]*$/u, "a label has no control characters")
    .optional(),
  color: z
    .string()
    .regex(/^[A-Za-z0-9#-]{1,32}$/, "a color is a word or #RRGGBB")
    .optional(),
  /** In place of the provider's own folder for skills in the sandbox. */
  guest_skills_folder: path.optional(),
};

export const environmentName = z.string().min(1);
/** Where and from what a workspace is made. */
export const placeFields = {
  environment: z.string().min(1).max(256).optional(),
  backend: z.string().min(1).max(64).optional(),
  oci_runtime: z.string().min(1).max(4096).optional(),
};

/** What another start of a run takes; all else is as it was at the first. */
export const resumeFields = {
  headless: runFields.headless,
  prompt: runFields.prompt,
  guest_skills_folder: runFields.guest_skills_folder,
  /** In the place of the files, as at its first start. */
  manifest: manifestFields.manifest,
};

/** A PATH of whoever asks. */
export const searchPath = z.string().max(65_536);

/** What a start of an agent takes from whoever asks for it. */
export const launchFields = {
  /** What the plan wanted: their variables, and what they answered. SECURITY: in the body of the call, and nowhere else on its way (G-65) */
  variables: z.record(secretName, z.string().max(65_536)).optional(),
  answers: z.record(secretName, z.string().max(65_536)).optional(),
  /** Folder with the skills; the user's own without it. */
  skills_path: path.optional(),
  /** Their PATH, on which the program of an agent is looked for; the daemon's own without it. */
  search_path: searchPath.optional(),
  /** Of the user's own terminal, where the agent is to have one. */
  terminal: z.strictObject(terminalSize).optional(),
};
