import type { ApprovalRuleList, Proposal, ProposalDetail, ProposalList } from "../../model/proposal.ts";
import { PROPOSAL_KINDS } from "../../model/proposal-kinds.ts";
import { scopeMeanings, scopeWords } from "../../model/scope-words.ts";
import { formatAge, formatTime, formatUntil } from "../output/duration.ts";
import { escapeName, escapeText } from "../output/escape.ts";
import { formatPairs, formatTable, type Layout } from "../output/table.ts";

/** In a list; `show` has all of it. */
const MAX_CHARACTERS = 160;

/** SECURITY: an agent chose these words, and they steer no terminal (G-103) */
export function formatProposals({ proposals }: ProposalList, now: number, layout: Layout): string {
  if (proposals.length === 0) return "Nothing waits for you";
  const rows = proposals.map((one) => [
    one.proposal_id,
    escapeName(one.identity),
    one.kind,
    one.status,
    formatAge(now - one.created_at),
    whatOf(one),
  ]);
  return formatTable(["ID", "RUN", "KIND", "STATUS", "AGE", "WHAT"], rows, layout).join("\n");
}

/** SECURITY: what an agent says is told apart from what cloche says, also where both are cut (G-103) */
const whatOf = ({ adds, justification, kind }: Proposal): string =>
  escapeName(`${cut(adds)} — the ${PROPOSAL_KINDS[kind].raised_by} says: "${cut(justification.replaceAll('"', "'"))}"`);

export function formatProposal(proposal: ProposalDetail, now: number, layout: Layout): string {
  const { status, decided_at, decided_by, expires_at } = proposal;
  const pairs: [string, string][] = [
    ["proposal", proposal.proposal_id],
    ["run", proposal.identity],
    ...(proposal.agent_name === null ? [] : [["agent", proposal.agent_name] as [string, string]]),
    ...(proposal.bottle_names.length === 0 ? [] : [["bottle", proposal.bottle_names.join(", ")] as [string, string]]),
    ["kind", proposal.kind],
    ["adds", proposal.adds],
    ["why", proposal.justification],
    ...(proposal.command === null ? [] : [["caused by", proposal.command] as [string, string]]),
    ["asked", `${formatAge(now - proposal.created_at)} ago`],
    ...(status === "pending"
      ? [["expires", formatUntil(expires_at - now)] as [string, string]]
      : [["answer", answerOf(proposal, decided_at, decided_by)] as [string, string]]),
    ["current hash", proposal.current_hash],
  ];
  const safe = pairs.map(([name, value]) => [name, escapeName(value)] as const);
  const scopes = status === "pending" ? [scopesOf(proposal)] : [];
  const parts = [formatPairs(safe, layout.width).join("\n"), ...scopes, `proposed:\n${document(proposal.proposed)}`];
  if (proposal.after !== null)
    parts.push(`now:\n${document(proposal.current)}`, `with it:\n${document(proposal.after)}`);
  return parts.join("\n\n");
}

const scopesOf = ({ kind }: Proposal): string =>
  ["approved, it holds for:", ...scopeMeanings(kind).map(([scope, meaning]) => `  ${scope}: ${meaning}`)].join("\n");

/** `approved once by ann: go on`. */
const answerOf = ({ status, reason, scope }: Proposal, at: number | null, by: string | null): string =>
  [
    status,
    scope === null ? "" : ` ${scopeWords(scope)}`,
    by === null ? "" : ` by ${by}`,
    at === null ? "" : ` at ${formatTime(at)}`,
    reason === null ? "" : `: ${reason}`,
  ].join("");

/** After an answer to what the operator changed: nobody has read yet what that adds. */
export const formatEditedAnswer = (proposal: Proposal): string =>
  `${formatAnswer(proposal)}\n${escapeName(proposal.adds)}`;

/** One line after an answer. */
export const formatAnswer = (proposal: Proposal): string =>
  escapeName(`${proposal.proposal_id} ${answerOf(proposal, null, proposal.decided_by)}`);

/** One line for each, as they come. */
export const formatProposalLine = (one: Proposal): string =>
  `${escapeName(`${one.proposal_id}  ${one.identity}  ${one.kind}  ${one.status}`)}  ${whatOf(one)}`;

export function formatRules({ rules }: ApprovalRuleList, layout: Layout): string {
  if (rules.length === 0) return "No rules: a person answers everything";
  const rows = rules.map((rule) => [
    rule.rule_id,
    rule.kind,
    rule.agent_name ?? "(any)",
    rule.scope,
    String(rule.used),
    escapeName(`${rule.adds} — ${rule.reason}`),
  ]);
  return formatTable(["ID", "KIND", "AGENT", "SCOPE", "USED", "WHAT"], rows, layout).join("\n");
}

const document = (value: unknown): string =>
  escapeText(JSON.stringify(value, undefined, 2))
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_CHARACTERS ? text : `${characters.slice(0, MAX_CHARACTERS).join("")}…`;
}
