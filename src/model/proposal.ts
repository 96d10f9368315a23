import { z } from "zod";
import { BUDGET_RESOURCES } from "./budget.ts";
import { RouteHost, RouteMatch } from "./egress.ts";
import type { ApprovalScope, ProposalKind, ProposalStatus } from "./proposal-kinds.ts";

export * from "./proposal-kinds.ts";

const MAX_ROUTES = 16;
const MAX_LIST = 64;
const line = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}]*$/u, "it is one line without control characters");
const port = z.number().int().min(1).max(65_535);

/** SECURITY: an agent asks for hosts, ports and matches, and for nothing that says where the bytes go, who is trusted, or which credential goes along (G-97) */
export const ProposedRoute = z.strictObject({
  host: RouteHost,
  ports: z.array(port).min(1).max(MAX_LIST).optional(),
  matches: z.array(RouteMatch).min(1).max(MAX_LIST).optional(),
});
export type ProposedRoute = z.infer<typeof ProposedRoute>;

/** What each kind proposes: the field `proposed`, as the agent gave it or as the operator changed it. */
export const PROPOSED = {
  "egress-block": z.strictObject({
    routes: z
      .array(ProposedRoute)
      .min(1)
      .max(MAX_ROUTES)
      .refine((routes) => new Set(routes.map(({ host }) => host)).size === routes.length, "a host is there twice"),
  }),
  "capability-block": z
    .strictObject({
      /** Of the environment's own package manager. */
      packages: z
        .array(z.string().regex(/^[a-z0-9][a-z0-9+.:~=-]{0,127}$/i, "it is the name of a package"))
        .max(MAX_LIST)
        .optional(),
      /** Shell commands, run as root while the environment is built. */
      steps: z.array(z.string().min(1).max(4096)).max(MAX_LIST).optional(),
    })
    .refine(({ packages = [], steps = [] }) => packages.length + steps.length > 0, "it names no package and no step"),
  "dlp-allow": z.strictObject({
    /** Of the request: what an approval is bound to. */
    digest: z.string().regex(/^[0-9a-f]{64}$/),
    method: line,
    scheme: z.enum(["http", "https"]),
    host: line,
    port,
    /** Without its query, and without what was found. */
    path: z.string().max(2048),
    body_bytes: z.number().int().min(0),
    findings: z
      .array(
        z.strictObject({
          detector: line,
          rule: line,
          name: line.nullable(),
          place: line,
          view: line,
        }),
      )
      .min(1)
      .max(MAX_LIST),
  }),
  "push-allow": z.strictObject({
    /** Of the repository, of the old id, the new id and the name of every ref, of the options and of all failures: what an approval is bound to. */
    digest: z.string().regex(/^[0-9a-f]{64}$/),
    repo: line,
    refs: z
      .array(z.strictObject({ ref: line, old: z.string().max(64), new: z.string().max(64) }))
      .min(1)
      .max(256),
    /** What the client says along with it; left out where that is nothing. */
    options: z.array(line).max(16).optional(),
    failures: z
      .array(z.strictObject({ step: line, text: z.string().max(1024) }))
      .min(1)
      .max(MAX_LIST),
  }),
  budget: z.strictObject({
    resource: z.enum(BUDGET_RESOURCES),
    /** What is used up. */
    limit: z.number().int().min(1),
    /** What is asked for beside that. */
    more: z.number().int().min(1).max(1e12),
  }),
} as const satisfies Record<ProposalKind, z.ZodType>;

export type Proposed<Kind extends ProposalKind = ProposalKind> = z.infer<(typeof PROPOSED)[Kind]>;

/** Something that somebody in a sandbox asks the operator for. Its content never changes; an answer is given once. */
export interface Proposal<Kind extends ProposalKind = ProposalKind> {
  proposal_id: string;
  /** The run; of a workspace without one, its id. */
  identity: string;
  workspace_id: string;
  /** Null of a workspace without a run. */
  agent_name: string | null;
  /** Of the run; the last is the one that an approval for the bottle is written into. */
  bottle_names: string[];
  kind: Kind;
  /** In the agent's own words, or the gate's. */
  justification: string;
  /** What exactly is asked for. Of one that was `modified`, as the operator changed it. */
  proposed: Proposed<Kind>;
  /** What it adds to the policy, as a sentence that cloche made. */
  adds: string;
  /** What caused it: the request or the push that is held, the last request to a proposed host that was refused; null where nobody knows. */
  command: string | null;
  /** Of kind and content: the same asked twice is one proposal. */
  content_hash: string;
  /** Of the part of the policy that it changes, as it was shown: when that is another one, it has to be looked at again. */
  current_hash: string;
  /** Unix seconds. */
  created_at: number;
  expires_at: number;
  status: ProposalStatus;
  decided_at: number | null;
  /** A user of this host, or `rule r-…`; null for one that expired. */
  decided_by: string | null;
  /** Why it was answered so; why it expired. */
  reason: string | null;
  /** What its approval holds for. */
  scope: ApprovalScope | null;
}

export interface ProposalList {
  count: number;
  proposals: Proposal[];
}

/** A proposal with the part of the policy that it changes, as it is and as it would be: what a diff is made from. */
export interface ProposalDetail extends Proposal {
  current: unknown;
  /** Null where an approval leaves it as it is. */
  after: unknown;
}

/** A rule of the operator's that answers proposals of exactly one content, until it is removed. */
export interface ApprovalRule {
  rule_id: string;
  kind: ProposalKind;
  proposed: Proposed;
  content_hash: string;
  adds: string;
  /** Only for runs of that agent; null for all. */
  agent_name: string | null;
  scope: ApprovalScope;
  reason: string;
  created_at: number;
  created_by: string;
  /** How many proposals it has answered. */
  used: number;
}

export interface ApprovalRuleList {
  count: number;
  rules: ApprovalRule[];
}
