/** Lines `oldStart` to `oldEnd` (exclusive, from 0) are replaced by lines `newStart` to `newEnd`. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Up to here the shortest edit is searched; its memory grows with the square: 16 MiB. */
const MAX_EDITS = 2000;

/** The text cut behind each newline; only the last may have none. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    const next = end < 0 ? text.length : end + 1;
    lines.push(text.slice(at, next));
    at = next;
  }
  return lines;
}

/**
 * How to get from one list of lines to the other, in order and without overlap. The shortest way as long as it has at most `maxEdits` removed and added
 * lines; beyond that everything between the common beginning and end is one change, so that the time stays bounded.
 */
export function diffLines(
  oldLines: readonly string[],
  newLines: readonly string[],
  maxEdits = MAX_EDITS,
): LineChange[] {
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shorter && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  const oldEnd = oldLines.length - tail;
  const newEnd = newLines.length - tail;
  if (head === oldEnd && head === newEnd) return [];
  const ids = new Map<string, number>();
  const a = numbered(oldLines, head, oldEnd, ids);
  const b = numbered(newLines, head, newEnd, ids);
  const trace = a.length === 0 || b.length === 0 ? undefined : searchShortest(a, b, maxEdits);
  if (trace === undefined) return [{ oldStart: head, oldEnd, newStart: head, newEnd }];
  return backtrack(trace, a.length, b.length, head);
}

/** Numbers compare faster than lines. */
function numbered(lines: readonly string[], start: number, end: number, ids: Map<string, number>): Int32Array {
  const numbers = new Int32Array(end - start);
  for (let at = start; at < end; at += 1) {
    const line = lines[at] ?? "";
    let id = ids.get(line);
    if (id === undefined) ids.set(line, (id = ids.size));
    numbers[at - start] = id;
  }
  return numbers;
}

/**
 * Myers' greedy search. `trace[d]` holds, for each diagonal k = x - y from -d to d in steps of 2, the furthest x that d edits
 * reach; at index k + d. Undefined when more than `maxEdits` are needed.
 */
function searchShortest(a: Int32Array, b: Int32Array, maxEdits: number): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  let before = new Int32Array(0);
  for (let d = 0; d <= Math.min(maxEdits, a.length + b.length); d += 1) {
    const reached = new Int32Array(2 * d + 1);
    for (let k = -d; k <= d; k += 2) {
      let x = stepInto(before, d, k);
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      reached[k + d] = x;
      if (x >= a.length && y >= b.length) {
        trace.push(reached);
        return trace;
      }
    }
    trace.push(reached);
    before = reached;
  }
  return undefined;
}

/** Where the d-th edit arrives on diagonal k, from the better of its neighbours. */
function stepInto(before: Int32Array, d: number, k: number): number {
  if (d === 0) return 0;
  return comesByInsertion(before, d, k) ? reachedAt(before, d, k + 1) : reachedAt(before, d, k - 1) + 1;
}

function comesByInsertion(before: Int32Array, d: number, k: number): boolean {
  return k === -d || (k !== d && reachedAt(before, d, k - 1) < reachedAt(before, d, k + 1));
}

function reachedAt(before: Int32Array, d: number, k: number): number {
  return before[k + d - 1] ?? 0;
}

/** Walks back from the end; neighbouring edits become one change. */
function backtrack(trace: readonly Int32Array[], oldLength: number, newLength: number, offset: number): LineChange[] {
  const changes: LineChange[] = [];
  let x = oldLength;
  let y = newLength;
  for (let d = trace.length - 1; d > 0; d -= 1) {
    const before = trace[d - 1] ?? new Int32Array(0);
    const k = x - y;
    const inserted = comesByInsertion(before, d, k);
    const fromX = reachedAt(before, d, inserted ? k + 1 : k - 1);
    const fromY = fromX - (inserted ? k + 1 : k - 1);
    const change = {
      oldStart: fromX + offset,
      oldEnd: fromX + (inserted ? 0 : 1) + offset,
      newStart: fromY + offset,
      newEnd: fromY + (inserted ? 1 : 0) + offset,
    };
    const last = changes.at(-1);
    if (last?.oldStart === change.oldEnd && last.newStart === change.newEnd) {
      changes[changes.length - 1] = { ...last, oldStart: change.oldStart, newStart: change.newStart };
    } else changes.push(change);
    x = fromX;
    y = fromY;
  }
  return changes.reverse();
}
