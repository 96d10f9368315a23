import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "stop"],
  summary: "Stop a workspace; its files stay",
  description: "Commands, services and shells are ended. `cloche workspace disk` then reads its files.",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace stop ws-4"],
  async run(context) {
    const client = await context.connect();
    const workspace = await client.stopWorkspace(context.argument("ID"));
    await context.print(workspace, () => `Stopped ${workspace.workspace_id}`);
    return 0;
  },
});
