import { defineCommand } from "../command.ts";
import { readProposedFile } from "../arguments/proposed-file.ts";
import { PROPOSAL } from "../arguments/common-options.ts";
import { formatProposal } from "../results/proposal-text.ts";

export const command = defineCommand({
  words: ["approvals", "show"],
  summary: "Show what an agent asks for, and what it would change",
  description:
    "An approval is for what was shown last: when what it would change has changed since, it is refused, and you look again.",
  positionals: [PROPOSAL],
  options: {
    edit: {
      type: "string",
      value: "FILE",
      description: "What this would change if you approved it instead: JSON or YAML; - is standard input",
      completes: "host-path",
    },
  },
  examples: [
    "cloche approvals show p-4k",
    "cloche approvals show p-4k --edit routes.yaml",
    "cloche approvals show p-4k --json | jq .proposed > routes.json",
  ],
  async run(context) {
    const { edit } = context.values;
    const proposed = edit === undefined ? undefined : await readProposedFile(context.io, edit, this.words, "--edit");
    const client = await context.connect();
    const proposal = await client.showApproval(context.argument("ID"), { ...(proposed !== undefined && { proposed }) });
    await context.print(proposal, () => formatProposal(proposal, Date.now() / 1000, context.layout));
    return 0;
  },
});
