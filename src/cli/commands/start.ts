import type { PlannedRun } from "../../model/bottle-plan.ts";
import { AGENT, BACKEND, BOTTLE } from "../arguments/common-options.ts";
import { usageError } from "../arguments/usage-error.ts";
import { type Context, defineCommand } from "../command.ts";
import { chooseAgent } from "../start/choose-agent.ts";
import { launchRun } from "../start/launch-run.ts";
import { showPreflight } from "../start/show-plan.ts";

export const command = defineCommand({
  words: ["start"],
  summary: "Start an agent in its bottle",
  description:
    "Shows what the agent gets and may do, asks, and starts it in this terminal. With --dry-run nothing is made: neither the agent's program nor a credential has to be there.",
  positionals: [
    {
      ...AGENT,
      description: "The agent's name, as in `cloche list` (default: the only one, or you choose)",
      optional: true,
    },
  ],
  options: {
    bottle: BOTTLE,
    backend: {
      ...BACKEND,
      description: "What isolates it, as in `cloche doctor` (default: the bottle's, else as everywhere)",
    },
    from: {
      type: "string",
      value: "IDENTITY",
      description: "Begin with what `cloche commit` has frozen of a run: its files, its home, its environment",
      completes: "run",
    },
    cwd: { type: "boolean", description: "Begin /workspace with a copy of the current folder" },
    "dry-run": { type: "boolean", description: "Show the plan and make nothing" },
    format: {
      type: "string",
      value: "FORMAT",
      description: "How --dry-run prints the plan",
      choices: ["json", "text"],
    },
    headless: { type: "boolean", description: "Without a terminal: do the task of --prompt, print, end" },
    prompt: { type: "string", value: "TEXT", description: "The task" },
    label: { type: "string", value: "LABEL", description: "A name of yours for the run" },
    color: { type: "string", value: "COLOR", description: "A color of yours for the run" },
    yes: { type: "boolean", short: "y", description: "Do not ask" },
  },
  examples: [
    "cloche start reviewer",
    "cloche start reviewer --dry-run --format json",
    'cloche start reviewer --cwd --headless --prompt "Fix the failing test"',
    "cloche start reviewer --bottle dev --bottle docs --backend vm",
    "cloche start reviewer --from reviewer-k3x9a",
  ],
  async run(context) {
    const { values } = context;
    const dryRun = values["dry-run"];
    if (values.format !== undefined && !dryRun)
      throw usageError(this.words, "--format is for --dry-run", "Give --dry-run too, or leave --format out.");
    if (values.headless && values.prompt === undefined && !dryRun)
      throw usageError(this.words, "--headless needs a task", "Give it with --prompt.");
    if (values.from !== undefined && values.cwd)
      throw usageError(this.words, "--from and --cwd exclude each other", "A run has its files from one of them.");
    const agent = context.optionalArgument("AGENT") ?? (await chooseAgent(context, this.words));
    const options = {
      bottles: values.bottle,
      backend: values.backend,
      from: values.from,
      copy_cwd: values.cwd,
      headless: values.headless,
      prompt: values.prompt,
      label: values.label,
      color: values.color,
      project_path: context.io.cwd,
    };
    const planned = await (await context.connect()).planRun(agent, options);
    for (const note of planned.notes) context.note(`note: ${note}`);
    if (dryRun) return await showPlan(context, planned, values.format === "json");
    return await launchRun(context, {
      words: this.words,
      headless: values.headless,
      yes: values.yes,
      planned,
      launch: (client, given) => client.startRun(agent, { ...options, ...given }),
    });
  },
});

async function showPlan(context: Context, planned: PlannedRun, asJson: boolean): Promise<number> {
  if (!asJson && !context.json) showPreflight(context, planned);
  else await context.print(planned.plan, () => JSON.stringify(planned.plan, null, 2));
  return 0;
}
