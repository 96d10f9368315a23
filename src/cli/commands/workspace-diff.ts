import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { usageError } from "../arguments/usage-error.ts";
import { escapeText } from "../output/escape.ts";
import { diffNotes, diffStat, diffNames } from "../results/diff-text.ts";
import { colourPatch } from "../results/patch-colours.ts";

export const command = defineCommand({
  words: ["workspace", "diff"],
  summary: "Show what changed since the workspace was created",
  description:
    "The patch is one that `git apply` takes. What the project ignored when the workspace was created is counted and not shown; an ignore file that was written since hides nothing.",
  positionals: [WORKSPACE],
  options: {
    path: {
      type: "string",
      value: "PATH",
      description: "Only this file or folder, also where the project ignores it; can be given again",
      multiple: true,
    },
    since: {
      type: "string",
      value: "SNAPSHOT",
      description: "Since a snapshot, or `fork` for what a fork began with (default: baseline)",
      completes: "snapshot",
    },
    stat: { type: "boolean", description: "Lines added and removed, file by file, instead of the patch" },
    "name-only": { type: "boolean", description: "The names of changed files instead of the patch" },
    "include-ignored": { type: "boolean", description: "Also what the project ignores" },
  },
  examples: [
    "cloche workspace diff ws-4",
    "cloche workspace diff ws-4 > changes.patch && git apply changes.patch",
    "cloche workspace diff ws-4 --path src --stat",
    "cloche workspace diff ws-4 --since before-refactoring --name-only",
    "cloche workspace diff ws-4 --since fork",
  ],
  async run(context) {
    const { path, since, stat, "name-only": namesOnly, "include-ignored": includeIgnored } = context.values;
    if (stat && namesOnly) throw usageError(this.words, "--stat and --name-only exclude each other");
    const client = await context.connect();
    const diff = await client.diffWorkspace(context.argument("ID"), {
      ...(path.length > 0 && { path }),
      since,
      ...(includeIgnored && { include_ignored: true }),
    });
    await context.print(diff, () => {
      if (stat) return diffStat(diff, context.colours);
      if (namesOnly) return diffNames(diff);
      return context.onTerminal ? colourPatch(escapeText(diff.patch), context.colours) : diff.patch;
    });
    if (!context.json) for (const line of diffNotes(diff)) context.note(line);
    return 0;
  },
});
