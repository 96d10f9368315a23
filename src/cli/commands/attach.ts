import { failure } from "../../model/error-codes.ts";
import { runMissing } from "../../model/run-missing.ts";
import { defineCommand } from "../command.ts";
import { IDENTITY } from "../arguments/run-options.ts";
import { requireTerminal } from "../terminal/attach-terminal.ts";
import { followOutput, sitDown } from "../start/stay-with-run.ts";

export const command = defineCommand({
  words: ["attach"],
  summary: "Sit down at a run; Ctrl-] leaves it at work",
  description:
    "Its terminal gets the size of yours. A run without a terminal shows what it prints from now on. When the agent ends, its exit code is ours.",
  positionals: [IDENTITY],
  options: {},
  examples: ["cloche attach reviewer-k3x9a"],
  async run(context) {
    const identity = context.argument("IDENTITY");
    const client = await context.connect();
    const { runs } = await client.listRuns({ all: true });
    const run = runs.find((one) => one.identity === identity);
    if (!run)
      throw runMissing(
        identity,
        runs.map((one) => one.identity),
      );
    if (run.state !== "running")
      throw failure("RUN_NOT_ACTIVE", `Run "${identity}" has ended`, {
        hint: `Take it up with \`cloche resume ${identity}\``,
      });
    if (!run.has_terminal) return await followOutput(context, client, run);
    requireTerminal(context, this.words, "Attach from a terminal.");
    return await sitDown(context, client, identity);
  },
});
