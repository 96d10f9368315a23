import { IDENTITY } from "../arguments/run-options.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  words: ["commit"],
  summary: "Freeze the files and the home of a run for later starts",
  description:
    "What its agent has made of /workspace and of its home is what `cloche start --from` begins with, on the same backend and environment. An agent that works goes on. The run is kept, however it ends; a second commit takes the place of the first.",
  positionals: [IDENTITY],
  options: {},
  examples: [
    "cloche commit reviewer-k3x9a",
    "cloche commit reviewer-k3x9a && cloche start reviewer --from reviewer-k3x9a",
  ],
  async run(context) {
    const client = await context.connect();
    const run = await client.commitRun(context.argument("IDENTITY"), { onProgress: context.onProgress });
    await context.print(run, () => {
      const { identity, agent_name: agent } = run;
      return `Committed ${identity}; begin with it by \`${context.io.program} start ${agent} --from ${identity}\``;
    });
    return 0;
  },
});
