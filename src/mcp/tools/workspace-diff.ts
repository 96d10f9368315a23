import { z } from "zod";
import type { Diff } from "../../model/files.ts";
import { INPUTS } from "../../model/operation-inputs.ts";
import { count, cutMiddle, firstEntries, headThatFits, jsonLength, SIDE_BUDGET, TEXT_BUDGET } from "../bounded.ts";
import { nextCursor } from "../paging.ts";
import { changeShape } from "../result-shapes.ts";
import { plural } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

const { path } = INPUTS.readWorkspaceFile.shape;
const { since, include_ignored } = INPUTS.diffWorkspace.shape;

export const tool = defineTool({
  name: "workspace_diff",
  description: "Show what changed since creation as a patch. What the project ignores is counted, not shown.",
  input: INPUTS.diffWorkspace.extend({
    path: path.optional().describe("A file or folder, also an ignored one"),
    since: since.describe("A snapshot, or fork; default: baseline"),
    include_ignored: include_ignored.describe("Also what the project ignores"),
    offset: z.number().int().min(0).optional(),
  }),
  output: z.object({
    changed: z.boolean(),
    summary: z.object({ total: z.number().int() }),
    entries: z.array(changeShape),
    entries_truncated: z.boolean(),
    patch: z.string(),
    patch_truncated: z.boolean(),
    next_offset: nextCursor,
    ignored_count: z.number().int(),
    omitted: z.object({ count: z.number().int() }),
  }),
  annotations: READS,
  async run({ workspace_id: id, offset, ...wanted }, { cloche, signal }) {
    const { entries, patch, ...diff } = await cloche.diffWorkspace(id, { ...wanted, signal });
    const shown = entriesWithin(entries);
    return {
      ...diff,
      entries: shown,
      entries_truncated: shown.length < entries.length,
      ...partOf(patch, offset),
      // A budget of the patch itself leaves something out, too.
      ...(diff.omitted.reasons.budget !== undefined && { patch_truncated: true }),
    };
  },
  text: ({ changed, summary: { total }, patch, ignored_count: ignored, omitted }) =>
    [
      changed ? plural(total, "change") : "Nothing changed",
      ...(omitted.count > 0 ? [`${plural(omitted.count, "change")} without a patch: see entries`] : []),
      ...(ignored > 0 ? [`${count(ignored)} ignored, not shown; include_ignored or path shows them`] : []),
      ...(patch === "" ? [] : [patch]),
    ].join("\n"),
});

/** As many as fit: all patches are in `patch` already. Those without one come first, since nothing else tells of them. */
function entriesWithin(entries: Diff["entries"]): Diff["entries"] {
  const bare = entries.map(
    ({ path: at, status, artifact_type, size_bytes, old_path, omitted }): Diff["entries"][number] => ({
      path: at,
      status,
      artifact_type,
      size_bytes,
      ...(old_path !== undefined && { old_path }),
      ...(omitted !== undefined && { omitted }),
    }),
  );
  const isSilent = ({ omitted }: Diff["entries"][number]) => omitted !== undefined;
  const ordered = [...bare.filter(isSilent), ...bare.filter((entry) => !isSilent(entry))];
  let left = SIDE_BUDGET;
  return firstEntries(ordered).filter((entry) => (left -= JSON.stringify(entry).length + 1) >= 0);
}

function partOf(
  patch: string,
  offset: number | undefined,
): { patch: string; patch_truncated: boolean; next_offset: number | null } {
  if (offset === undefined) {
    const cut = jsonLength(patch) > TEXT_BUDGET;
    const next = headThatFits(patch, TEXT_BUDGET / 2).length;
    const how = `workspace_diff with path shows one file's, with offset ${next} it reads on`;
    return {
      patch: cutMiddle(patch, TEXT_BUDGET, how),
      patch_truncated: cut,
      next_offset: cut ? next : null,
    };
  }
  const end = offset + headThatFits(patch.slice(offset), TEXT_BUDGET).length;
  const more = end < patch.length;
  return { patch: patch.slice(offset, end), patch_truncated: offset > 0 || more, next_offset: more ? end : null };
}
