import { z } from "zod";
import { failure } from "../../model/error-codes.ts";
import type { Diff } from "../../model/files.ts";
import { INPUTS } from "../../model/operation-inputs.ts";
import { cutMiddle, firstEntries, headThatFits, jsonLength, SIDE_BUDGET, TEXT_BUDGET } from "../bounded.ts";
import { nextCursor } from "../paging.ts";
import { changeShape } from "../result-shapes.ts";
import { plural } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

const { path } = INPUTS.readWorkspaceFile.shape;

export const tool = defineTool({
  name: "workspace_diff",
  description: "Show what changed since creation as a patch; of one file with path.",
  input: INPUTS.diffWorkspace.extend({ path: path.optional(), offset: z.number().int().min(0).optional() }),
  output: z.object({
    changed: z.boolean(),
    summary: z.object({ total: z.number().int() }),
    entries: z.array(changeShape),
    patch: z.string(),
    patch_truncated: z.boolean(),
    next_offset: nextCursor,
  }),
  annotations: READS,
  async run({ workspace_id: id, path: wanted, offset }, { cloche, signal }) {
    const { entries, patch, ...diff } = await cloche.diffWorkspace(id, { signal });
    const chosen = wanted === undefined ? { entries, patch } : entryOf(entries, wanted);
    return {
      ...diff,
      // All patches are in `patch` already.
      entries: firstEntries(
        chosen.entries.map((entry) => ({ ...entry, patch: undefined })),
        SIDE_BUDGET,
      ),
      ...partOf(chosen.patch, offset),
    };
  },
  text: ({ changed, summary: { total }, patch }) =>
    changed ? `${plural(total, "change")}\n${patch}` : "Nothing changed",
});

function entryOf(entries: Diff["entries"], wanted: string): Pick<Diff, "entries" | "patch"> {
  const absolute = wanted.startsWith("/") ? wanted : `/workspace/${wanted.replace(/^\.\//, "")}`;
  const entry = entries.find((one) => one.path === absolute);
  if (!entry) {
    throw failure("FILE_NOT_FOUND", `"${wanted}" is as it was when the workspace was created`, {
      hint: "Call it without path to see what changed",
    });
  }
  return { entries: [entry], patch: entry.patch ?? "" };
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
