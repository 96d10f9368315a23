import { defineCommand } from "../command.ts";

export const command = defineCommand({
  words: ["approvals", "rules", "remove"],
  summary: "Answer such proposals yourself again",
  description: "What the rule has approved stays approved.",
  positionals: [{ name: "ID", description: "As `cloche approvals rules list` shows it", completes: "rule" }],
  options: {},
  examples: ["cloche approvals rules remove r-0c2k9x1m4a"],
  async run(context) {
    const rule = await (await context.connect()).removeApprovalRule(context.argument("ID"));
    await context.print(rule, () => `${rule.rule_id} is gone`);
    return 0;
  },
});
