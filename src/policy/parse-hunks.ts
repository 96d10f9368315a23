import { quoted, type ByteText } from "./byte-text.ts";
import type { Hunk, HunkLine } from "./file-patch.ts";
import type { PatchLines } from "./patch-lines.ts";

export const HUNK_HEADER = /^@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@/;

export interface ParsedHunks {
  readonly hunks: Hunk[];
  /** With the carriage returns that `hunks` are without. */
  readonly crlfHunks: Hunk[] | undefined;
}

/** The hunks of one file; at least one. `crlf` when the patch's own lines end with CRLF. */
export function parseHunks(lines: PatchLines, path: ByteText, crlf: boolean): ParsedHunks {
  const hunks: Hunk[] = [];
  const crlfHunks: Hunk[] = [];
  do {
    const { hunk, crlfLines } = parseHunk(lines, path, crlf);
    hunks.push(hunk);
    if (crlf) crlfHunks.push({ ...hunk, lines: crlfLines });
  } while (lines.peek().startsWith("@@"));
  return { hunks, crlfHunks: crlf ? crlfHunks : undefined };
}

function parseHunk(lines: PatchLines, path: ByteText, crlf: boolean): { hunk: Hunk; crlfLines: HunkLine[] } {
  const match = HUNK_HEADER.exec(lines.peek());
  if (!match) {
    const found = lines.ended ? "the patch ends" : `${quoted(lines.peek().slice(0, 80))} is none`;
    throw lines.invalid(`a hunk header such as "@@ -1,3 +1,4 @@" must be here for ${quoted(path)}, but ${found}`);
  }
  const [header, oldStart, oldCount = "1", , newCount = "1"] = match;
  const name = `the hunk "${header}" of ${quoted(path)}`;
  const body = new HunkBody(crlf);
  let oldLeft = Number(oldCount);
  let newLeft = Number(newCount);
  lines.skip();
  while (oldLeft > 0 || newLeft > 0 || lines.raw()?.startsWith("\\ ")) {
    const raw = lines.raw();
    if (raw?.startsWith("\\ ")) {
      if (!body.dropNewline()) throw lines.invalid(`no line comes before the mark of a missing newline in ${name}`);
      lines.skip();
      continue;
    }
    const mark = markOf(raw);
    if (raw === undefined || mark === undefined) throw lines.invalid(`${name} has fewer lines than its header says`);
    if (mark !== "+") oldLeft -= 1;
    if (mark !== "-") newLeft -= 1;
    if (oldLeft < 0 || newLeft < 0) throw lines.invalid(`${name} does not have the lines that its header says`);
    body.add(mark, raw);
    lines.skip();
  }
  if (!body.isSound) throw lines.invalid(`${name} has a line without a newline that is not the last`);
  if (goesOn(lines)) throw lines.invalid(`${name} has more lines than its header says`);
  const hunk = { header, oldStart: Number(oldStart), oldCount: Number(oldCount), lines: body.lines };
  return { hunk, crlfLines: body.crlfLines };
}

/** A line that is all empty is an empty line of context whose blank was lost on the way. */
function markOf(raw: ByteText | undefined): HunkLine["mark"] | undefined {
  const first = raw?.[0];
  if (raw === "" || raw === "\r") return " ";
  return first === " " || first === "-" || first === "+" ? first : undefined;
}

/** Whether lines of a hunk follow one that should have ended; the signature of a mail and the next file are none. */
function goesOn(lines: PatchLines): boolean {
  let blank = 0;
  while (lines.raw(blank) !== undefined && lines.peek(blank) === "") blank += 1;
  const line = lines.peek(blank);
  if (line === "-- " || line === "--") return false;
  if (line.startsWith("--- ") && lines.peek(blank + 1).startsWith("+++ ")) return false;
  return /^[-+ ]/.test(line);
}

class HunkBody {
  readonly lines: HunkLine[] = [];
  /** Empty when the patch's own lines do not end with CRLF. */
  readonly crlfLines: HunkLine[] = [];
  readonly #crlf: boolean;

  constructor(crlf: boolean) {
    this.#crlf = crlf;
  }

  add(mark: HunkLine["mark"], raw: ByteText): void {
    const text = raw === "\r" ? raw : raw.slice(1);
    const stripped = this.#crlf && text.endsWith("\r") ? text.slice(0, -1) : text;
    this.lines.push({ mark, text: `${stripped}\n` });
    if (this.#crlf) this.crlfLines.push({ mark, text: `${text}\n` });
  }

  /** Of the last line; false when there is none, or it has none already. */
  dropNewline(): boolean {
    const last = this.lines.pop();
    if (!last?.text.endsWith("\n")) return false;
    const bare = { mark: last.mark, text: last.text.slice(0, -1) };
    this.lines.push(bare);
    // the carriage return was of the patch: the line of the file ends here
    if (this.#crlf) this.crlfLines[this.crlfLines.length - 1] = bare;
    return true;
  }

  /** Whether only the last line of each side is without a newline. */
  get isSound(): boolean {
    return (["-", "+"] as const).every((other) => {
      const side = this.lines.filter(({ mark }) => mark !== other);
      return side.every(({ text }, at) => at === side.length - 1 || text.endsWith("\n"));
    });
  }
}
