import type { PlannedRun } from "../../model/bottle-plan.ts";
import { usageError } from "../arguments/usage-error.ts";
import type { Context } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";

/** Names in it may be a project's: nothing of them steers the terminal. */
export function showPreflight(context: Context, { preflight }: PlannedRun): void {
  context.endProgress();
  context.io.stderr.write(preflight.split("\n").map(escapeName).join("\n"));
}

export async function askWhetherToStart(context: Context, words: readonly string[]): Promise<boolean> {
  if (context.json || !canAsk(context.io))
    throw usageError(words, "Cannot ask whether to start it: there is no terminal", "Give --yes.");
  if (await confirm(context.io, "Start it?")) return true;
  context.note("Nothing was started");
  return false;
}
