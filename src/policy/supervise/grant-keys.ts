import type { ApprovalScope, ProposalKind } from "../../model/proposal-kinds.ts";
import type { Proposed } from "../../model/proposal.ts";
import { contentHash, hashOf } from "./content-hash.ts";

/**
 * What an approval lets pass at the gate is known by: once, the digest of what was held or the content of the routes; for the run, what all requests have in common that take the same to the same
 * host. Null where an approval changes the policy instead.
 */
export function grantKey(kind: ProposalKind, proposed: unknown, scope: ApprovalScope | null): string | null {
  if (kind === "dlp-allow") {
    const request = proposed as Proposed<"dlp-allow">;
    return scope === "run" ? requestShape(request) : request.digest;
  }
  if (kind === "egress-block") return scope === "once" ? contentHash(kind, proposed) : null;
  return kind === "push-allow" ? (proposed as Proposed<"push-allow">).digest : null;
}

/** The place that a request goes to, and what was found in it: by which rule and under which name, wherever it was. */
export function requestShape({ scheme, host, port, findings }: Proposed<"dlp-allow">): string {
  const found = new Set(findings.map(({ detector, rule, name }) => JSON.stringify([detector, rule, name])));
  return hashOf(["shape", scheme, host, port, [...found].sort()]);
}
