import type { Applied, AppliedEntry } from "../../model/applied.ts";
import type { Colours } from "../output/colour.ts";
import { escapeName } from "../output/escape.ts";

/** Files that are named one by one. */
const MAX_NAMED = 40;

const MARKS: Readonly<Record<AppliedEntry["status"], string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  type_changed: "T",
};

/** What would come home, and to where: shown before anything is done. */
export function arrivalText(told: Applied, colours: Colours): string {
  const { entries, left_out: leftOut, look_first: first, ignored_count: ignored } = told;
  const news = entries.filter(({ outcome }) => outcome !== "there");
  const there = entries.length - news.length;
  const named = news.slice(0, MAX_NAMED);
  const width = Math.max(0, ...named.map(({ path }) => escapeName(path).length));
  return [
    "",
    `  from  ${told.identity ?? told.workspace_id}`,
    `  to    ${destination(told)}`,
    "",
    ...named.map((entry) => `  ${entryLine(entry, width, colours)}`),
    ...(news.length > named.length ? [`  and ${news.length - named.length} more`] : []),
    ...(news.length === 0 ? ["  No changes to bring home"] : []),
    ...(there > 0 ? [`  ${counted(there, "file")} there already`] : []),
    ...first
      .slice(0, MAX_NAMED)
      .map((path) => `  ${colours.yellow("look first")}  ${escapeName(path)}: tools obey it by themselves`),
    // SECURITY: many such files hide none (G-186)
    ...(first.length > MAX_NAMED
      ? [
          `  ${colours.yellow("look first")}  and ${first.length - MAX_NAMED} more that tools obey by themselves; see all with --dry-run --json`,
        ]
      : []),
    ...leftOut
      .slice(0, MAX_NAMED)
      .map(({ path, reason }) => `  ${colours.yellow("left out")}  ${escapeName(path)}: ${reason}`),
    ...(leftOut.length > MAX_NAMED ? [`  and ${leftOut.length - MAX_NAMED} more left out`] : []),
    ...(ignored > 0 ? [`  ${counted(ignored, "ignored change")} not taken along`] : []),
    "",
  ].join("\n");
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function destination({
  as,
  checkout_path: checkout,
  branch,
  worktree_path: worktree,
  base_commit: base,
}: Applied): string {
  const top = escapeName(checkout);
  if (as === "patch") return `${top}, into its files`;
  const on = `branch ${escapeName(branch ?? "")} of ${top}, on ${base?.slice(0, 10) ?? ""}`;
  return as === "branch" ? on : `${escapeName(worktree ?? "")}, a worktree with ${on}`;
}

function entryLine(
  { path, status, outcome, reason, lines_added: added, lines_removed: removed }: AppliedEntry,
  width: number,
  colours: Colours,
): string {
  const name = escapeName(path);
  if (outcome === "conflicts") return `${colours.red("!")}  ${name.padEnd(width)}  ${colours.red(reason ?? "")}`;
  const mark = MARKS[status];
  const painted =
    status === "added" ? colours.green(mark) : status === "deleted" ? colours.red(mark) : colours.yellow(mark);
  const lines =
    added === null || removed === null
      ? "binary"
      : [added > 0 ? colours.green(`+${added}`) : "", removed > 0 ? colours.red(`-${removed}`) : ""]
          .filter((part) => part !== "")
          .join(" ");
  const merged = outcome === "merges" ? colours.dim(" merged") : "";
  return `${painted}  ${name.padEnd(width)}  ${lines}${merged}`.trimEnd();
}

/** What was done. */
export function appliedText(told: Applied): string {
  const count = told.entries.filter(({ outcome }) => outcome === "applies" || outcome === "merges").length;
  if (!told.applied) return count === 0 ? "No changes to bring home" : `${counted(count, "file")} would come home`;
  const { as, branch, worktree_path: worktree, checkout_path: checkout, commit } = told;
  if (as === "patch") return `Changed ${counted(count, "file")} in ${escapeName(checkout)}`;
  const made = `Made branch ${escapeName(branch ?? "")} with ${counted(count, "file")} (${commit?.slice(0, 10) ?? ""})`;
  return as === "branch" ? made : `${made}, checked out in ${escapeName(worktree ?? "")}`;
}
