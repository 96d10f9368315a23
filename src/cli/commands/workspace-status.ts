import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatWorkspace } from "../results/workspace-details.ts";

export const command = defineCommand({
  words: ["workspace", "status"],
  summary: "Show one workspace",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace status ws-4", "cloche workspace status ws-4 --json"],
  async run(context) {
    const workspace = await (await context.connect()).statusWorkspace(context.argument("ID"));
    await context.print(workspace, () => formatWorkspace(workspace, Date.now() / 1000));
    return 0;
  },
});
