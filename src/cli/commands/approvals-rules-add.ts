import type { ProposalKind } from "../../model/proposal-kinds.ts";
import { APPROVAL_SCOPES, PROPOSAL_KINDS } from "../../model/proposal-kinds.ts";
import { readProposedFile } from "../arguments/proposed-file.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";

const KINDS = Object.entries(PROPOSAL_KINDS).flatMap(([kind, { automatic }]) => (automatic ? [kind] : []));

export const command = defineCommand({
  words: ["approvals", "rules", "add"],
  summary: "Have proposals of exactly one content approved at once",
  description:
    "A rule is for what the file says, to the letter: a proposal with one host, path or port more waits for you. What a rule approves is told in the events like any other answer, with the rule's id.",
  positionals: [
    {
      name: "FILE",
      description: "What is proposed, as `approvals show --json` has it: JSON or YAML; - is standard input",
      completes: "host-path",
    },
  ],
  options: {
    reason: { type: "string", value: "TEXT", description: "Why it may be approved without you", required: true },
    kind: { type: "string", value: "KIND", description: "Of what kind it is (default: egress-block)", choices: KINDS },
    agent: { type: "string", value: "AGENT", description: "Only for runs of that agent", completes: "agent" },
    scope: {
      type: "string",
      value: "SCOPE",
      description: "What its approvals hold for (default: the run)",
      choices: APPROVAL_SCOPES,
    },
  },
  examples: [
    'cloche approvals rules add routes.yaml --reason "the registry of our team"',
    'cloche approvals show p-4k --json | jq .proposed | cloche approvals rules add - --agent reviewer --reason "asks each time"',
  ],
  async run(context) {
    const { kind = "egress-block", reason, agent, scope } = context.values;
    const proposed = await readProposedFile(context.io, context.argument("FILE"), this.words, "the file");
    const client = await context.connect();
    const rule = await client.addApprovalRule(kind as ProposalKind, proposed, {
      reason,
      ...(agent !== undefined && { agent_name: agent }),
      ...(scope !== undefined && { scope }),
    });
    await context.print(rule, () => escapeName(`${rule.rule_id}: ${rule.adds}`));
    return 0;
  },
});
