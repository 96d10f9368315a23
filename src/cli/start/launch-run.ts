import type { PlannedRun } from "../../model/bottle-plan.ts";
import type { Run } from "../../model/run.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { LaunchOptions } from "../../sdk/options.ts";
import { usageError } from "../arguments/usage-error.ts";
import type { Context } from "../command.ts";
import { terminalSize } from "../terminal/terminal-size.ts";
import { gatherValues } from "./gather-values.ts";
import { askWhetherToStart, showPreflight } from "./show-plan.ts";
import { followOutput, sitDown } from "./stay-with-run.ts";

/** A start of an agent, new or once more. */
export interface AskedRun {
  readonly words: readonly string[];
  readonly headless: boolean;
  /** Nobody is asked whether it may start. */
  readonly yes: boolean;
  readonly planned: PlannedRun;
  launch(client: Cloche, options: LaunchOptions): Promise<Run>;
}

/** Shows the plan, asks, starts what was agreed to, stays with it, and resolves to the exit code. */
export async function launchRun(context: Context, asked: AskedRun): Promise<number> {
  const { words, headless, yes, planned } = asked;
  const { io } = context;
  showPreflight(context, planned);
  if (!yes && !headless && !(await askWhetherToStart(context, words))) return 1;
  if (!headless && (context.json || io.stdin.isTTY !== true || io.stdout.isTTY !== true))
    throw usageError(words, "The agent would have no terminal here", "Use --headless --prompt TEXT.");
  const { variables, answers } = await gatherValues(io, planned.wanted);
  const client = await context.connect();
  const terminal = headless ? undefined : terminalSize(io.stdout);
  const run = await asked.launch(client, { variables, answers, terminal, onProgress: context.onProgress });
  context.endProgress();
  return headless ? await followOutput(context, client, run) : await sitDown(context, client, run.identity, 0);
}
