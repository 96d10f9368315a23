import { defineCommand } from "../command.ts";
import { HEADLESS, IDENTITY, requireTask, TASK, YES } from "../arguments/run-options.ts";
import { launchRun } from "../start/launch-run.ts";

export const command = defineCommand({
  words: ["resume"],
  summary: "Take up a run that was kept, where its agent stopped",
  description:
    "On the backend that it was started on, in the workspace that it had, with the conversation that it had. Bottle and agent are read anew; variables are taken from the environment of this call.",
  positionals: [IDENTITY],
  options: { headless: HEADLESS, prompt: TASK, yes: YES },
  examples: ["cloche resume reviewer-k3x9a", "cloche resume reviewer-k3x9a --headless --prompt 'go on'"],
  async run(context) {
    const { headless, prompt, yes } = context.values;
    requireTask(this.words, headless, prompt);
    const identity = context.argument("IDENTITY");
    const asked = { headless, prompt };
    const planned = await (await context.connect()).planResume(identity, asked);
    for (const note of planned.notes) context.note(`note: ${note}`);
    return await launchRun(context, {
      words: this.words,
      headless,
      yes,
      planned,
      launch: (client, given) => client.resumeRun(identity, { ...asked, ...given }),
    });
  },
});
