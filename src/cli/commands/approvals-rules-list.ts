import { defineCommand } from "../command.ts";
import { formatRules } from "../results/proposal-text.ts";

export const command = defineCommand({
  words: ["approvals", "rules", "list"],
  summary: "List the rules that answer in your place",
  positionals: [],
  options: {},
  examples: ["cloche approvals rules list", "cloche approvals rules list --json"],
  async run(context) {
    const rules = await (await context.connect()).listApprovalRules();
    await context.print(rules, () => formatRules(rules, context.layout));
    return 0;
  },
});
