import { CHANGE_STATUSES, type Diff } from "../../model/files.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { escapeText } from "../output/escape.ts";
import { colourPatch } from "../results/patch-colours.ts";

export const command = defineCommand({
  words: ["workspace", "diff"],
  summary: "Show what changed since the workspace was created",
  description: "The patch is one that `git apply` takes.",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace diff ws-4", "cloche workspace diff ws-4 > changes.patch && git apply changes.patch"],
  async run(context) {
    const diff = await (await context.connect()).diffWorkspace(context.argument("ID"));
    await context.print(diff, () =>
      context.onTerminal ? colourPatch(escapeText(diff.patch), context.colours) : diff.patch,
    );
    if (!context.json) for (const line of summarize(diff)) context.note(line);
    return 0;
  },
});

function summarize(diff: Diff): string[] {
  if (!diff.changed) return ["No changes"];
  const counts = CHANGE_STATUSES.filter((status) => diff.summary[status] > 0).map(
    (status) => `${diff.summary[status]} ${status}`,
  );
  const silent = diff.entries.filter((entry) => entry.patch === undefined && entry.artifact_type !== "directory");
  return [
    `${diff.summary.total} changed: ${counts.join(", ")}`,
    ...silent.map((entry) => `note: no patch for ${entry.path}`),
  ];
}
