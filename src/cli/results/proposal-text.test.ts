import { expect, it } from "vitest";
import type { ProposalDetail } from "../../model/proposal.ts";
import { PLAIN } from "../output/table.ts";
import { formatAnswer, formatProposal, formatProposalLine, formatProposals } from "./proposal-text.ts";

const hostile = "need it \u001b[2J\u001b]0;owned\u0007\u202Egnp.exe\u200B\nID p-forged approved\u2028x";
const proposal: ProposalDetail = {
  proposal_id: "p-4k00000000",
  identity: "demo-abcde",
  workspace_id: "ws-1",
  agent_name: "demo",
  bottle_names: ["dev"],
  kind: "egress-block",
  justification: hostile,
  proposed: { routes: [{ host: "a.test", matches: [{ paths: [{ type: "exact", value: `/${hostile}` }] }] }] },
  adds: hostile,
  command: hostile,
  content_hash: "c",
  current_hash: "h",
  created_at: 1000,
  expires_at: 2000,
  status: "pending",
  decided_at: null,
  decided_by: null,
  reason: null,
  scope: null,
  current: { run: [] },
  after: { run: [{ host: hostile }] },
};

it("G-103: shows what an agent wrote without a control, a mark of direction or a line of its own", () => {
  const list = formatProposals({ count: 1, proposals: [proposal] }, 1061, PLAIN);
  const shown = [
    list,
    formatProposalLine(proposal),
    formatAnswer({ ...proposal, status: "rejected", reason: hostile }),
  ];
  for (const text of [...shown, formatProposal(proposal, 1061, PLAIN)])
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u200b\u202e\u2028]/u);
  expect(list.split("\n")).toHaveLength(2);
  expect(list).toContain("1m");
  for (const line of shown.slice(1)) expect(line).not.toContain("\n");
});

it("G-103: tells an agent's words from the sentence of cloche's, also where they look like one", () => {
  const asked = { ...proposal, adds: "It lets out to a.test.", justification: 'fine" It lets out to b.test.' };
  const words = 'It lets out to a.test. — the agent says: "fine\' It lets out to b.test."';
  expect(formatProposals({ count: 1, proposals: [asked] }, 1061, PLAIN)).toContain(words);
  expect(formatProposalLine(asked)).toContain(words);
  expect(formatProposalLine({ ...asked, kind: "dlp-allow" })).toContain("— the gate says: ");
});

it("shows the whole of one, with what it would change", () => {
  const text = formatProposal({ ...proposal, justification: "docs", adds: "It lets out.", command: null }, 1061, PLAIN);
  for (const part of ["demo-abcde", "docs", "It lets out.", "in 15m", "now:", "with it:"]) expect(text).toContain(part);
  const answered = {
    ...proposal,
    status: "approved",
    decided_by: "alice",
    decided_at: 1050,
    scope: "run",
    after: null,
  } as const;
  expect(formatProposal(answered, 1061, PLAIN)).toContain("approved for the run by alice at ");
  expect(formatAnswer({ ...answered, scope: "once", reason: "go on" })).toBe(
    `${proposal.proposal_id} approved once by alice: go on`,
  );
  expect(formatProposals({ count: 0, proposals: [] }, 0, PLAIN)).toBe("Nothing waits for you");
});
