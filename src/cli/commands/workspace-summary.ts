import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatSummary } from "../results/summary-markdown.ts";

export const command = defineCommand({
  words: ["workspace", "summary"],
  summary: "Tell what happened since the workspace was created or reset",
  description: "Markdown, to paste into a chat or a pull request.",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace summary ws-4", "cloche workspace summary ws-4 > summary.md"],
  async run(context) {
    const summary = await (await context.connect()).summarizeWorkspace(context.argument("ID"));
    await context.print(summary, () => formatSummary(summary));
    return 0;
  },
});
