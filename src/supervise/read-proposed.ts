import { describeIssue } from "../model/describe-issue.ts";
import { failure } from "../model/error-codes.ts";
import { PROPOSED, type ProposalKind, proposalKindRow, type Proposed } from "../model/proposal.ts";
import { areTooLarge } from "../policy/supervise/pattern-size.ts";
import { isEgressProblem, parseEgress } from "../policy/egress/parse-egress.ts";

/** What is proposed, as its kind has it, or what is wrong with it. */
export function checkProposed(
  kind: ProposalKind,
  given: unknown,
): { readonly proposed: Proposed } | { readonly problem: string } {
  const schema = PROPOSED[kind];
  const checked = schema.safeParse(given);
  if (!checked.success) return { problem: describeIssue(schema, given, checked.error) };
  if (kind !== "egress-block") return { proposed: checked.data };
  if (areTooLarge((checked.data as Proposed<"egress-block">).routes))
    return { problem: "its patterns repeat too much: use smaller numbers in braces, or type prefix or exact" };
  // Patterns have to compile, too.
  const egress = parseEgress(checked.data);
  return isEgressProblem(egress) ? { problem: egress.problem } : { proposed: checked.data };
}

/** What the operator made of a proposal. */
export function readEdited(kind: ProposalKind, given: unknown): Proposed {
  if (!proposalKindRow(kind).editable)
    throw failure("INVALID_ARGUMENT", `A ${kind} is approved as it is, or not at all`, { hint: "Leave out --edit" });
  return readProposed(kind, given);
}

/** From the operator. */
export function readProposed(kind: ProposalKind, given: unknown): Proposed {
  const checked = checkProposed(kind, given);
  if ("problem" in checked) throw failure("PROPOSAL_INVALID", `Cannot approve it so: ${checked.problem}`);
  return checked.proposed;
}
