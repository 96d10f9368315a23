import { z } from "zod";
import { failure } from "../../model/error-codes.ts";
import type { JournalEntry } from "../../model/exec.ts";
import { INPUTS } from "../../model/operation-inputs.ts";
import { cutMiddle, firstEntries, headThatFits, RESULT_BUDGET, SIDE_BUDGET, TEXT_BUDGET } from "../bounded.ts";
import { nextCursor } from "../paging.ts";
import { execShape } from "../result-shapes.ts";
import { execWords } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

const RECENT = 20;
const RECENT_CHARS = 1000;
const MAX = Number.MAX_SAFE_INTEGER;

export const tool = defineTool({
  name: "workspace_logs",
  description: `Show the last ${RECENT} commands, or with sequence one command's output from offset on.`,
  input: INPUTS.logsWorkspace.extend({
    sequence: z.number().int().min(1).optional(),
    offset: z.number().int().min(0).optional(),
  }),
  output: z.object({
    entries: z.array(execShape.pick({ sequence: true, exit_code: true, stdout: true, stderr: true })),
    next_offset: nextCursor,
  }),
  annotations: READS,
  async run({ workspace_id: id, sequence, offset = 0 }, { cloche, signal }) {
    const { workspace_id, entries } = await cloche.logsWorkspace(id, { signal });
    if (sequence === undefined) {
      // The last ones are those that matter most.
      const recent = firstEntries(entries.slice(-RECENT).map(shorten).toReversed(), RESULT_BUDGET - SIDE_BUDGET);
      return { workspace_id, total: entries.length, entries: recent.toReversed(), next_offset: null };
    }
    const entry = entries.find((one) => one.sequence === sequence);
    if (!entry) throw failure("COMMAND_NOT_FOUND", `Workspace ${workspace_id} has no command ${sequence}`);
    return { workspace_id, ...partOf(entry, offset) };
  },
  text: ({ entries, next_offset: next }) =>
    [
      ...entries.map((entry) => `#${entry.sequence} ${execWords({ timed_out: false, duration_ms: 0, ...entry })}`),
      ...(next === null ? [] : [`[… read on with offset ${next} …]`]),
    ].join("\n\n") || "No command ran yet",
});

function shorten(entry: JournalEntry): JournalEntry {
  const how = `workspace_logs with sequence ${entry.sequence} shows it`;
  return {
    ...entry,
    stdout: cutMiddle(entry.stdout, RECENT_CHARS, how),
    stderr: cutMiddle(entry.stderr, RECENT_CHARS, how),
  };
}

/** Both streams from one offset on, so that reading on needs one number. */
function partOf(entry: JournalEntry, offset: number): { entries: JournalEntry[]; next_offset: number | null } {
  const streams = [entry.stdout.slice(offset), entry.stderr.slice(offset)];
  const heads = streams.map((text) => headThatFits(text, TEXT_BUDGET / 2).length);
  const cut = heads.filter((length, at) => length < (streams[at]?.length ?? 0));
  const end = offset + Math.min(...(cut.length === 0 ? heads.map(() => MAX) : cut));
  const part = { ...entry, stdout: entry.stdout.slice(offset, end), stderr: entry.stderr.slice(offset, end) };
  return { entries: [part], next_offset: cut.length === 0 ? null : end };
}
