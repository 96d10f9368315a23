import { defineCommand } from "../command.ts";
import { WORKSPACE_OR_RUN } from "../arguments/common-options.ts";
import { ALLOW_TOKEN_COMMANDS } from "../arguments/token-commands.ts";
import { withPolicyFile } from "../arguments/policy-file.ts";

export const command = defineCommand({
  words: ["egress", "set"],
  summary: "Give a workspace another egress policy, or its tokens anew",
  description:
    "The policy is in force when the command ends; requests under way go on. Tokens are taken from the variables and commands that the policy names. The workspace was created with a way out.",
  positionals: [
    WORKSPACE_OR_RUN,
    { name: "FILE", description: "Routes in YAML or JSON; - is standard input", completes: "host-path" },
  ],
  options: { "allow-token-commands": ALLOW_TOKEN_COMMANDS },
  examples: ["cloche egress set ws-4 ./egress.yaml", "cloche egress learn ws-4 | cloche egress set ws-4 -"],
  async run(context) {
    const client = await context.connect();
    const file = context.argument("FILE");
    const runs = { isAllowed: context.values["allow-token-commands"] };
    const set = await withPolicyFile(context.io, { file, words: this.words, flag: "the policy", runs }, (egress) =>
      client.setEgress(context.argument("ID|IDENTITY"), egress),
    );
    const count = `${set.route_count} route${set.route_count === 1 ? "" : "s"}`;
    await context.print(set, () =>
      set.revision === null ? `${count}, in force when the workspace is started` : `${count} in force`,
    );
    return 0;
  },
});
