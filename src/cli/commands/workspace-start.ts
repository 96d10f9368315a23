import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "start"],
  summary: "Start a stopped or expired workspace",
  description: "It has the files it was stopped with, in a new sandbox.",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace start ws-4"],
  async run(context) {
    const client = await context.connect();
    const workspace = await client.startWorkspace(context.argument("ID"), { onProgress: context.onProgress });
    await context.print(workspace, () => `Started ${workspace.workspace_id}`);
    return 0;
  },
});
