import { defineCommand } from "../command.ts";

export const command = defineCommand({
  words: ["daemon", "stop"],
  summary: "Stop the daemon; workspaces go on",
  description: "The next command that needs it starts a new one, which takes up every workspace.",
  positionals: [],
  options: {},
  examples: ["cloche daemon stop"],
  async run(context) {
    const stopped = await (await context.connect()).stopDaemon();
    await context.print(stopped, () => (stopped.stopped ? "Stopped the daemon" : "The daemon was not running"));
    return 0;
  },
});
