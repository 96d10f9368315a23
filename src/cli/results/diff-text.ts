import { CHANGE_STATUSES, type Diff, type DiffEntry } from "../../model/files.ts";
import type { Colours } from "../output/colour.ts";
import { escapeName } from "../output/escape.ts";

/** Entries without a patch that are named one by one. */
const MAX_NAMED = 10;
const STAT_WIDTH = 40;

const relative = (path: string): string => escapeName(path.replace(/^\/workspace\//, ""));
const number = (count: number): string => count.toLocaleString("en-US");
const counted = (count: number, noun: string): string => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

/** What a diff has to say besides its patch. Few lines, however much it is. */
export function diffNotes(diff: Diff): string[] {
  const { summary, entries, ignored_count: ignored, omitted } = diff;
  const statuses = CHANGE_STATUSES.filter((status) => summary[status] > 0).map(
    (status) => `${number(summary[status])} ${status}`,
  );
  const silent = entries.filter((entry) => entry.omitted !== undefined);
  const named = silent.slice(0, MAX_NAMED);
  const more = omitted.count - named.length;
  const reasons = Object.entries(omitted.reasons).map(([reason, count]) => `${number(count)} ${reason}`);
  return [
    diff.changed ? `${number(summary.total)} changed: ${statuses.join(", ")}` : "No changes",
    ...named.map((entry) => `note: no patch for ${escapeName(entry.path)} (${entry.omitted ?? ""})`),
    ...(more > 0 ? [`note: no patch for ${number(more)} more (in all: ${reasons.join(", ")}); --path shows one`] : []),
    ...(ignored > 0
      ? [`note: ${counted(ignored, "ignored change")} not shown; --include-ignored or --path shows them`]
      : []),
  ];
}

/** One name a line, relative to `/workspace` as in the patch. */
export const diffNames = ({ entries }: Diff): string => entries.map(({ path }) => relative(path)).join("\n");

/** As `git diff --stat`. */
export function diffStat({ entries }: Diff, colours: Colours): string {
  const rows = entries.map((entry) => ({ name: nameOf(entry), ...countLines(entry) }));
  const most = Math.max(1, ...rows.map(({ added, removed }) => added + removed));
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  const digits = String(most).length;
  const lines = rows.map(({ name, added, removed, omitted }) => {
    const head = ` ${name.padEnd(width)} | `;
    if (omitted !== undefined) return `${head}${omitted}`;
    const scale = (count: number) => (most <= STAT_WIDTH ? count : Math.ceil((count * STAT_WIDTH) / most));
    const bar = colours.green("+".repeat(scale(added))) + colours.red("-".repeat(scale(removed)));
    return `${head}${String(added + removed).padStart(digits)} ${bar}`.trimEnd();
  });
  const total = (side: "added" | "removed") => rows.reduce((sum, row) => sum + row[side], 0);
  const end = ` ${counted(rows.length, "file")} changed, ${number(total("added"))} (+), ${number(total("removed"))} (-)`;
  return rows.length === 0 ? "" : [...lines, end].join("\n");
}

const nameOf = ({ path, old_path: oldPath }: DiffEntry): string =>
  oldPath === undefined ? relative(path) : `${relative(oldPath)} => ${relative(path)}`;

/** Lines of the hunks; what stands before the first is about the file. */
function countLines({ patch = "", omitted, artifact_type: type }: DiffEntry) {
  let inHunk = false;
  let added = 0;
  let removed = 0;
  for (const line of patch.split("\n")) {
    if (line.startsWith("diff --git ")) inHunk = false;
    else if (line.startsWith("@@")) inHunk = true;
    else if (inHunk && line.startsWith("+")) added += 1;
    else if (inHunk && line.startsWith("-")) removed += 1;
  }
  return { added, removed, omitted: type === "directory" ? (omitted ?? "directory") : omitted };
}
