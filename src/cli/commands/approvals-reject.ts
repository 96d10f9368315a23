import { PROPOSAL } from "../arguments/common-options.ts";
import { defineCommand } from "../command.ts";
import { formatAnswer } from "../results/proposal-text.ts";

export const command = defineCommand({
  words: ["approvals", "reject"],
  summary: "Refuse what an agent asks for, and tell it why",
  positionals: [PROPOSAL],
  options: {
    reason: { type: "string", value: "TEXT", description: "Why; the agent reads it", required: true },
  },
  examples: ['cloche approvals reject p-4k --reason "use the mirror in the bottle instead"'],
  async run(context) {
    const { reason } = context.values;
    const proposal = await (await context.connect()).rejectProposal(context.argument("ID"), reason);
    await context.print(proposal, () => formatAnswer(proposal));
    return 0;
  },
});
