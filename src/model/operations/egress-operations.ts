import type { EgressCheck, EgressLearned, EgressSet } from "../egress-seen.ts";
import { type Operation, typeOnly } from "../operation.ts";
import { MANIFEST_NAME } from "../vocabulary.ts";

export const egressOperations = {
  /** Would a request pass? Asked of a workspace, of a bottle, or of a policy that is in no use yet. */
  checkEgress: {
    kind: "call",
    input: ({ z, workspaceId, EgressPolicy }) =>
      z.strictObject({
        workspace_id: workspaceId.optional(),
        bottle: z.string().regex(MANIFEST_NAME, "a bottle's name is lower-case letters, digits and '-'").optional(),
        egress: EgressPolicy.optional(),
        method: z
          .string()
          .regex(/^[A-Z]{1,32}$/, "a method is upper-case letters")
          .optional(),
        url: z.string().min(1).max(32_768),
      }),
    result: typeOnly<EgressCheck>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "egress check",
    mcp: null,
  },
  learnEgress: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<EgressLearned>(),
    // What it has sent is told also when it is gone, as after a run that ended well.
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "egress learn",
    mcp: null,
  },
  /** Takes the place of the policy that it has; requests under way go on. */
  setEgress: {
    kind: "call",
    input: ({ z, workspaceId, EgressPolicy, egressTokens }) =>
      z.strictObject({ workspace_id: workspaceId, egress: EgressPolicy, egress_tokens: egressTokens.optional() }),
    result: typeOnly<EgressSet>(),
    about: "record",
    repeatable: true,
    activity: "done",
    lane: "making",
    cli: "egress set",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
