import { APPROVAL_SCOPES } from "../../model/proposal-kinds.ts";
import { PROPOSAL } from "../arguments/common-options.ts";
import { readProposedFile } from "../arguments/proposed-file.ts";
import { defineCommand } from "../command.ts";
import { formatAnswer, formatEditedAnswer } from "../results/proposal-text.ts";

export const command = defineCommand({
  words: ["approvals", "approve"],
  summary: "Give an agent what it asks for",
  description:
    "What is approved is in force, and the gate has confirmed it, before the agent hears it. If it cannot be applied, everything stays as it was, and both hear why. A held request or push needs --reason.",
  positionals: [PROPOSAL],
  options: {
    scope: {
      type: "string",
      value: "SCOPE",
      description: "once, for the run, or into the bottle's file (default: a route for the run, what is held once)",
      choices: APPROVAL_SCOPES,
    },
    reason: { type: "string", value: "TEXT", description: "Why; it is kept in the audit" },
    edit: {
      type: "string",
      value: "FILE",
      description: "Approve this instead of what is proposed: JSON or YAML; - is standard input",
      completes: "host-path",
    },
    "current-hash": {
      type: "string",
      value: "HASH",
      description: "The hash that was shown to you; without it, the one that was shown last",
    },
  },
  examples: [
    "cloche approvals approve p-4k",
    "cloche approvals approve p-4k --scope bottle",
    "cloche approvals approve p-4k --edit routes.yaml",
    'cloche approvals approve p-9z --reason "a test value"',
  ],
  async run(context) {
    const { scope, reason, edit, "current-hash": hash } = context.values;
    const proposed = edit === undefined ? undefined : await readProposedFile(context.io, edit, this.words, "--edit");
    const client = await context.connect();
    const proposal = await client.approveProposal(context.argument("ID"), {
      onProgress: context.onProgress,
      ...(scope !== undefined && { scope }),
      ...(reason !== undefined && { reason }),
      ...(proposed !== undefined && { proposed }),
      ...(hash !== undefined && { current_hash: hash }),
    });
    await context.print(proposal, () => (edit === undefined ? formatAnswer(proposal) : formatEditedAnswer(proposal)));
    return 0;
  },
});
