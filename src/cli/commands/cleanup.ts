import type { CleanedUp, Leftover } from "../../model/run.ts";
import { defineCommand } from "../command.ts";
import { YES } from "../arguments/run-options.ts";
import { usageError } from "../arguments/usage-error.ts";
import { escapeName } from "../output/escape.ts";
import type { Layout } from "../output/table.ts";
import { hangText } from "../output/wrap-text.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";
import { terminalSize } from "../terminal/terminal-size.ts";

const REMOVED = "Removed ";
const INDENT = 4;

export const command = defineCommand({
  words: ["cleanup"],
  summary: "Remove what runs have left, on every backend",
  description:
    "One plan for all of it, and one question. Also sandboxes that go on though the home which they belong to was deleted. A run that is at work is never touched; one that can be resumed, or has changes to bring home, goes only with --all. It may be repeated.",
  positionals: [],
  options: {
    all: { type: "boolean", description: "Also the runs that were kept and could be resumed" },
    "dry-run": { type: "boolean", description: "Tell what would go, and remove nothing" },
    yes: YES,
  },
  examples: ["cloche cleanup --dry-run", "cloche cleanup --all --yes"],
  async run(context) {
    const { all, "dry-run": dry_run, yes } = context.values;
    if (!dry_run && !yes && (context.json || !canAsk(context.io)))
      throw usageError(this.words, "Cannot ask whether it is to be removed", "Give --yes, or --dry-run.");
    const client = await context.connect();
    const plan = await client.cleanUp({ all, dry_run: true });
    if (dry_run || plan.removed.length === 0) {
      await context.print(plan, () => cleanedText(plan, "Would remove", all, context.layout));
      return 0;
    }
    if (!yes) {
      const { cols } = terminalSize(context.io.stderr);
      for (const line of plan.removed.flatMap((one) => leftoverLines("", one, cols - 2)))
        context.io.stderr.write(`  ${line}\n`);
      const count = plan.removed.length;
      if (!(await confirm(context.io, `Remove ${count === 1 ? "it" : `these ${count}`}?`))) {
        context.note("Nothing was removed");
        return 1;
      }
    }
    const done = await client.cleanUp({ all, onProgress: context.onProgress });
    await context.print(done, () => cleanedText(done, "Removed", all, context.layout));
    return 0;
  },
});

function cleanedText({ removed, kept }: CleanedUp, verb: string, all: boolean | undefined, { width }: Layout): string {
  return [
    ...(removed.length === 0 ? ["Nothing to clean up"] : []),
    ...removed.flatMap((one) => leftoverLines(`${verb} `, one, width)),
    ...kept.flatMap((one) => leftoverLines("Kept ", one, width)),
    ...(kept.length > 0 && !all ? ["What is kept and not at work goes with --all"] : []),
  ].join("\n");
}

function leftoverLines(verb: string, { kind, identity, workspace_id: id, backend, reason }: Leftover, width: number) {
  const where = [id, backend].filter((part) => part !== null).join(" on ");
  const name = identity === null ? "" : ` ${escapeName(identity)}`;
  // Of what is gone, nothing can be resumed or brought home any more.
  const why = verb === REMOVED ? "" : `: ${escapeName(reason)}`;
  return hangText("", INDENT, `${verb}${kind}${name}${where === "" ? "" : ` (${where})`}${why}`, width);
}
