import { failure } from "../model/error-codes.ts";
import { type ApprovalScope, type ProposalKind, proposalKindRow } from "../model/proposal.ts";

/** A reason in words; null where none is given and none has to be. */
export function requireReason(given: string | undefined, isNeeded: boolean, what: string): string | null {
  const reason = given?.trim() ?? "";
  if (reason !== "") return reason;
  if (!isNeeded) return null;
  throw failure("REASON_REQUIRED", `${what} needs a reason`);
}

/** What an answer holds for: what was asked for, where the kind has it. */
export function requireScope(kind: ProposalKind, asked: ApprovalScope | undefined): ApprovalScope {
  const { scopes } = proposalKindRow(kind);
  if (asked === undefined) return scopes[0];
  if (scopes.includes(asked)) return asked;
  throw failure("INVALID_ARGUMENT", `A ${kind} cannot be approved with the scope "${asked}"`, {
    hint: `Use the scope ${scopes.join(" or ")}`,
  });
}
