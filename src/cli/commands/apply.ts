import { APPLY_FORMS, type Applied } from "../../model/applied.ts";
import { YES } from "../arguments/run-options.ts";
import { usageError } from "../arguments/usage-error.ts";
import { type Context, defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { appliedText, arrivalText } from "../results/applied-text.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";

export const command = defineCommand({
  words: ["apply"],
  summary: "Bring what an agent changed into your checkout",
  description:
    "Shows what would come, asks, and does it: all of it or nothing, and never over work that is not committed. Also while the agent works. Nothing of git runs on the way: no hook and no filter.",
  positionals: [
    {
      name: "IDENTITY",
      description: "The run, also one that has ended, by its identity; or a workspace",
      completes: "workspace",
    },
  ],
  options: {
    as: {
      type: "string",
      value: "FORM",
      description:
        "Into the files as a patch, as a commit on a new branch, or as a worktree with that branch (default: patch)",
      choices: APPLY_FORMS,
    },
    to: {
      type: "string",
      value: "FOLDER",
      description: "The checkout (default: the folder that the run began with)",
      completes: "host-path",
    },
    path: {
      type: "string",
      value: "PATH",
      description: "Only this file or folder; can be given again",
      multiple: true,
    },
    branch: { type: "string", value: "NAME", description: "Name of the branch (default: cloche/IDENTITY)" },
    output: {
      type: "string",
      value: "HOST_PATH",
      description: "Where the worktree goes (default: beside the checkout)",
      completes: "host-path",
    },
    message: { type: "string", short: "m", value: "TEXT", description: "Message of the commit" },
    "dry-run": { type: "boolean", description: "Show what would come, and change nothing" },
    yes: YES,
  },
  examples: [
    "cloche apply reviewer-k3x9a",
    "cloche apply reviewer-k3x9a --as branch --message 'Fix the parser'",
    "cloche apply reviewer-k3x9a --as worktree --output ../review",
    "cloche apply reviewer-k3x9a --dry-run --json",
  ],
  async run(context) {
    const { as, to, path, branch, output, message, "dry-run": dryRun, yes } = context.values;
    if (as === undefined || as === "patch")
      for (const [flag, given] of Object.entries({ branch, message }))
        if (given !== undefined) throw usageError(this.words, `--${flag} is for --as branch and --as worktree`);
    if (output !== undefined && as !== "worktree") throw usageError(this.words, "--output is for --as worktree");
    if (!dryRun && !yes && (context.json || !canAsk(context.io)))
      throw usageError(
        this.words,
        "Cannot ask whether to bring it home: there is no terminal",
        "Give --yes, or --dry-run.",
      );
    const client = await context.connect();
    const identity = context.argument("IDENTITY");
    const asked = {
      as,
      branch,
      message,
      project_path: to,
      output_path: output,
      ...(path.length > 0 && { path }),
    };
    const planned = await client.applyRun(identity, { ...asked, dry_run: true, onProgress: context.onProgress });
    if (dryRun) {
      await context.print(planned, () => arrivalText(planned, context.colours));
      return planned.conflict_count > 0 ? 1 : 0;
    }
    const isWanted = planned.conflict_count > 0 || yes || (await isAgreedTo(context, planned));
    if (!isWanted) return 1;
    // Conflicts are told by the call itself, which changes nothing then.
    const agreed = yes ? {} : { plan_digest: planned.plan_digest };
    const done = await client.applyRun(identity, { ...asked, ...agreed, onProgress: context.onProgress });
    await context.print(done, () => appliedText(done));
    if (yes)
      for (const { path: left, reason } of done.left_out) context.note(`note: left out ${escapeName(left)}: ${reason}`);
    return 0;
  },
});

/** Nothing to bring needs no answer. */
async function isAgreedTo(context: Context, planned: Applied): Promise<boolean> {
  context.endProgress();
  context.io.stderr.write(`${arrivalText(planned, context.colours)}\n`);
  if (planned.entries.every(({ outcome }) => outcome === "there")) return true;
  if (await confirm(context.io, "Bring it home?")) return true;
  context.note("Nothing was changed");
  return false;
}
