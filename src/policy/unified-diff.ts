import { diffLines, splitLines, type LineChange } from "./line-diff.ts";
import { quotePath } from "./quote-path.ts";

/** A file's mode as git knows it. */
export type GitMode = "100644" | "100755" | "120000";

export interface FileVersions {
  /** Relative to the top of the tree. */
  readonly path: string | Uint8Array;
  /** Where a renamed file was. */
  readonly oldPath?: string | Uint8Array | undefined;
  /** A link's text is its target. Null when there is no file. */
  readonly oldText: string | null;
  readonly newText: string | null;
  /** Of a side that has no file it does not matter. */
  readonly oldMode: GitMode;
  readonly newMode: GitMode;
}

const CONTEXT = 3;

export function gitModeOf(type: "file" | "symlink", mode: number): GitMode {
  if (type === "symlink") return "120000";
  return (mode & 0o100) === 0 ? "100644" : "100755";
}

/** As git decides: a NUL among the first 8000 bytes. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, 8000).includes(0);
}

/** The text of a file for `unifiedDiff`; undefined for what is binary or no UTF-8, and so cannot be shown in a patch that is text. */
export function textOf(content: Uint8Array): string | undefined {
  if (isBinary(content)) return undefined;
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("utf8");
  return Buffer.byteLength(text) === content.byteLength && Buffer.from(text).equals(content) ? text : undefined;
}

/** The patch that `git apply` takes; empty when nothing differs. */
export function unifiedDiff(file: FileVersions): string {
  const { oldText, newText, oldMode, newMode } = file;
  const both = oldText !== null && newText !== null;
  // A file that became a link, or a link a file: git removes the one and makes the other.
  if (both && (oldMode === "120000") !== (newMode === "120000")) {
    const removed = unifiedDiff({ ...file, path: file.oldPath ?? file.path, oldPath: undefined, newText: null });
    return removed + unifiedDiff({ ...file, oldPath: undefined, oldText: null });
  }
  const oldLines = splitLines(oldText ?? "");
  const newLines = splitLines(newText ?? "");
  const changes = diffLines(oldLines, newLines);
  const head = headerLines(file, changes.length > 0, () => similarity(oldLines, newLines, changes));
  return head === "" ? "" : head + formatHunks(oldLines, newLines, changes);
}

function headerLines(file: FileVersions, changed: boolean, similar: () => number): string {
  const { path, oldPath, oldText, newText, oldMode, newMode } = file;
  const oldName = prefixed("a/", oldPath ?? path);
  const newName = prefixed("b/", path);
  const renamed = oldPath !== undefined && !Buffer.from(oldPath as string).equals(Buffer.from(path as string));
  const lines: string[] = [];
  if (oldText === null && newText === null) return "";
  if (oldText === null) lines.push(`new file mode ${newMode}`);
  else if (newText === null) lines.push(`deleted file mode ${oldMode}`);
  else {
    if (oldMode !== newMode) lines.push(`old mode ${oldMode}`, `new mode ${newMode}`);
    if (renamed) {
      lines.push(`similarity index ${similar()}%`, `rename from ${quotePath(oldPath)}`, `rename to ${quotePath(path)}`);
    }
    if (lines.length === 0 && !changed) return "";
  }
  if (changed) {
    lines.push(
      `--- ${oldText === null ? "/dev/null" : named(oldName)}`,
      `+++ ${newText === null ? "/dev/null" : named(newName)}`,
    );
  }
  return [`diff --git ${oldName} ${newName}`, ...lines, ""].join("\n");
}

function prefixed(prefix: string, path: string | Uint8Array): string {
  return quotePath(Buffer.concat([Buffer.from(prefix), Buffer.from(path as string)]));
}

/** A tab ends a name with blanks, for programs that expect a date behind it. */
function named(name: string): string {
  return name.includes(" ") ? `${name}\t` : name;
}

function formatHunks(oldLines: readonly string[], newLines: readonly string[], changes: readonly LineChange[]): string {
  return grouped(changes)
    .map((group) => formatHunk(oldLines, newLines, group))
    .join("");
}

/** Changes whose contexts touch belong to one hunk. */
function grouped(changes: readonly LineChange[]): LineChange[][] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    const previous = last?.at(-1);
    if (last && previous && change.oldStart - previous.oldEnd <= 2 * CONTEXT) last.push(change);
    else groups.push([change]);
  }
  return groups;
}

function formatHunk(oldLines: readonly string[], newLines: readonly string[], group: readonly LineChange[]): string {
  const first = group[0];
  const last = group.at(-1);
  if (!first || !last) return "";
  const oldStart = Math.max(0, first.oldStart - CONTEXT);
  const newStart = first.newStart - (first.oldStart - oldStart);
  const oldEnd = Math.min(oldLines.length, last.oldEnd + CONTEXT);
  const newEnd = last.newEnd + (oldEnd - last.oldEnd);
  const body: string[] = [];
  let at = oldStart;
  for (const change of group) {
    for (const line of oldLines.slice(at, change.oldStart)) body.push(marked(" ", line));
    for (const line of oldLines.slice(change.oldStart, change.oldEnd)) body.push(marked("-", line));
    for (const line of newLines.slice(change.newStart, change.newEnd)) body.push(marked("+", line));
    at = change.oldEnd;
  }
  for (const line of oldLines.slice(at, oldEnd)) body.push(marked(" ", line));
  return `@@ -${range(oldStart, oldEnd)} +${range(newStart, newEnd)} @@\n${body.join("")}`;
}

function marked(mark: string, line: string): string {
  return line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`;
}

/** Lines count from 1; an empty range names the line before it. */
function range(start: number, end: number): string {
  const count = end - start;
  if (count === 1) return String(start + 1);
  return `${count === 0 ? start : start + 1},${count}`;
}

/** How much of the larger version is in both, in percent; 100 only for the same text. */
function similarity(oldLines: readonly string[], newLines: readonly string[], changes: readonly LineChange[]): number {
  if (changes.length === 0) return 100;
  const size = (lines: readonly string[]) => lines.reduce((total, line) => total + line.length, 0);
  const removed = changes.reduce((total, { oldStart, oldEnd }) => total + size(oldLines.slice(oldStart, oldEnd)), 0);
  const oldSize = size(oldLines);
  return Math.min(99, Math.floor((100 * (oldSize - removed)) / Math.max(1, oldSize, size(newLines))));
}
