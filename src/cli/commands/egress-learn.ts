import { defineCommand } from "../command.ts";
import { TOLD_WORKSPACE_OR_RUN } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["egress", "learn"],
  summary: "Propose the smallest list of routes that covers what a workspace has sent",
  description:
    "Looks at the events of the workspace, and prints a policy to paste: exact hosts, their methods, and their paths, of which many in one folder become the folder. What was denied is there too, as comments. A policy with `log: all` tells everything; `log: blocks` tells only what was refused.",
  positionals: [TOLD_WORKSPACE_OR_RUN],
  options: {},
  examples: [
    "cloche egress learn ws-4",
    "cloche egress learn reviewer-k3x9a",
    "cloche egress learn ws-4 > egress.yaml",
  ],
  async run(context) {
    const learned = await (await context.connect()).learnEgress(context.argument("ID|IDENTITY"));
    const { learnedYaml } = await import("../results/learned-yaml.ts");
    await context.print(learned, () => learnedYaml(learned));
    if (learned.request_count === 0 && !context.json)
      context.note("note: No request of this workspace was seen; its policy may have `log: off`");
    return 0;
  },
});
