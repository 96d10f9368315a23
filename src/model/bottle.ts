import { z } from "zod";
import { Egress } from "./egress.ts";
import { GitPolicy } from "./git-policy.ts";
import { MANIFEST_NAME, SECRET_NAME } from "./names.ts";
import { Limits } from "./workspace.ts";

export const ManifestName = z.string().regex(MANIFEST_NAME, {
  error: ({ input }) =>
    `"${String(input)}" is no name: it is 1 to 58 lower-case letters, digits or '-', and starts with a letter`,
});

const variable = z
  .string()
  .regex(SECRET_NAME, "a variable's name is 1 to 64 letters, digits or '_', and starts with no digit");

/** Which agent works in a bottle. */
export const AgentProvider = z.strictObject({
  template: ManifestName,
  /** A variable in the environment of whoever launches. */
  auth_token: variable.optional(),
  /** The provider's own. */
  settings: z.record(z.string(), z.unknown()).optional(),
});
export type AgentProvider = z.infer<typeof AgentProvider>;

const amount = z.number().int().min(1).max(1e12);
/** What a sandbox may have, and what the run as a whole may use up. */
const BottleLimits = Limits.extend({
  /** Tokens in, out and into a cache, as the providers count them. */
  model_tokens: amount.optional(),
  /** Answers of models that told how many tokens they took. */
  model_requests: amount.optional(),
  /** From the first start on. */
  wall_seconds: z.number().int().min(1).max(31_536_000).optional(),
});

/** The front matter of `bottles/NAME.md`: what an agent gets and may do. */
export const Bottle = z.strictObject({
  extends: z.union([ManifestName, z.array(ManifestName).min(1).max(32)]).optional(),
  environment: z.string().min(1).max(256).optional(),
  backend: z.string().min(1).max(64).optional(),
  env: z.record(variable, z.string().max(65_536)).optional(),
  agent_provider: AgentProvider.optional(),
  egress: Egress.optional(),
  git: GitPolicy.optional(),
  supervise: z.boolean().optional(),
  limits: BottleLimits.optional(),
});
export type Bottle = z.infer<typeof Bottle>;
