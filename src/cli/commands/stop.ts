import { defineCommand } from "../command.ts";
import { IDENTITY } from "../arguments/run-options.ts";

export const command = defineCommand({
  words: ["stop"],
  summary: "End the agent of a run; the run is kept",
  description: "The agent is asked to end, and made to after a few seconds. `cloche resume` takes the run up again.",
  positionals: [IDENTITY],
  options: {},
  examples: ["cloche stop reviewer-k3x9a"],
  async run(context) {
    const client = await context.connect();
    const end = await client.stopRun(context.argument("IDENTITY"));
    await context.print(end, () => {
      const why = end.reason === null ? "" : `: ${end.reason}`;
      const code = `${end.exit_code === null ? "" : ` with exit code ${end.exit_code}`}${why}`;
      return end.kept
        ? `${end.identity} has ended${code}; take it up with \`${context.io.program} resume ${end.identity}\``
        : `${end.identity} has ended${code}`;
    });
    return 0;
  },
});
