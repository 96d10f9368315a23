import type { ByteText } from "./byte-text.ts";
import type { Hunk } from "./file-patch.ts";
import { splitLines } from "./line-diff.ts";
import { LineIndex } from "./line-index.ts";
import { describeDifference, rejected } from "./patch-rejected.ts";

/**
 * The content with the hunks applied, in order. A hunk fits at its own line, or at the one place behind the former hunk that has all of its
 * context and removed lines; there is no fuzz. Once a hunk was found elsewhere, line numbers prove nothing any more: those that follow have
 * to be unique too. Throws PATCH_REJECTED.
 */
export function applyHunks(content: ByteText, hunks: readonly Hunk[], path: ByteText): ByteText {
  const target = new HunkTarget(content, path);
  for (const hunk of hunks) target.apply(hunk);
  return target.finish();
}

class HunkTarget {
  readonly #path: ByteText;
  readonly #lines: readonly ByteText[];
  readonly #index: LineIndex;
  readonly #result: ByteText[] = [];
  /** Lines before that one are in the result, or removed. */
  #done = 0;
  #shifted = false;

  constructor(content: ByteText, path: ByteText) {
    this.#path = path;
    this.#lines = splitLines(content);
    this.#index = new LineIndex(this.#lines);
  }

  apply(hunk: Hunk): void {
    const oldLines = hunk.lines.flatMap(({ mark, text }) => (mark === "+" ? [] : [text]));
    const stated = hunk.oldCount === 0 ? hunk.oldStart : hunk.oldStart - 1;
    const place = this.#place(hunk, oldLines, stated);
    this.#shifted ||= place !== stated;
    this.#copyTo(place);
    this.#done = place + oldLines.length;
    for (const { mark, text } of hunk.lines) {
      if (mark === "-") continue;
      this.#checkJoint(hunk, text);
      this.#result.push(text);
    }
    if (this.#done < this.#lines.length) this.#checkJoint(hunk, this.#lines[this.#done] ?? "");
  }

  finish(): ByteText {
    this.#copyTo(this.#lines.length);
    return this.#result.join("");
  }

  #copyTo(end: number): void {
    for (; this.#done < end; this.#done += 1) this.#result.push(this.#lines[this.#done] ?? "");
  }

  #place(hunk: Hunk, oldLines: readonly ByteText[], stated: number): number {
    const overlaps = stated < this.#done;
    const fits = !overlaps && this.#index.matches(oldLines, stated);
    if (fits && !this.#shifted) return stated;
    // A pure insertion without context would fit everywhere, so that only its line number tells where it belongs.
    const places = oldLines.length === 0 ? [] : this.#index.find(oldLines, this.#done);
    if (places[0] !== undefined && places.length === 1) return places[0];
    throw this.#misfit(hunk, oldLines, { stated, overlaps, many: places.length > 1 });
  }

  #misfit(
    hunk: Hunk,
    oldLines: readonly ByteText[],
    { stated, overlaps, many }: { stated: number; overlaps: boolean; many: boolean },
  ) {
    const differs = oldLines.findIndex((line, offset) => line !== this.#lines[stated + offset]);
    const place = stated + Math.max(0, differs);
    const difference = { hunk: hunk.header, expected: oldLines[Math.max(0, differs)], found: this.#lines[place] };
    const where = `at line ${place + 1}`;
    const reason = overlaps
      ? "overlaps the one before it"
      : oldLines.length === 0
        ? this.#shifted
          ? "has no lines to find its place by, and the hunk before it was found at another line"
          : `is behind the end of the file, which has ${this.#lines.length} lines`
        : differs < 0
          ? "may belong to more than one place, since the hunk before it was found at another line"
          : `does not apply ${where}: ${describeDifference(difference)}${many ? "; its lines are at more than one other place" : ""}`;
    return rejected(this.#path, `hunk "${hunk.header}" ${reason}`, difference);
  }

  /** Only the last line of a file can be without a newline; any other would run into its neighbour. */
  #checkJoint(hunk: Hunk, next: ByteText): void {
    const last = this.#result.at(-1);
    if (last === undefined || last.endsWith("\n")) return;
    const difference = { hunk: hunk.header, expected: undefined, found: next };
    const reason = `joins a line without a newline to the next: ${describeDifference(difference)}`;
    throw rejected(this.#path, `hunk "${hunk.header}" ${reason}`, difference);
  }
}
