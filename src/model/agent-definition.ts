import { z } from "zod";
import { ManifestName } from "./bottle.ts";
import { GitUser } from "./git-policy.ts";

/**
 * The front matter of `agents/NAME.md`.
 *
 * SECURITY: it has no key that could widen what a bottle allows, because a repository may bring it (G-60)
 */
export const AgentDefinition = z.strictObject({
  bottle: ManifestName.optional(),
  skills: z.array(ManifestName).max(256).optional(),
  provider: ManifestName.optional(),
  git: z.strictObject({ user: GitUser.optional() }).optional(),
  // Of a subagent definition, so that one file serves both. They do nothing here.
  name: z.unknown().optional(),
  description: z.unknown().optional(),
  model: z.unknown().optional(),
  color: z.unknown().optional(),
  memory: z.unknown().optional(),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;
