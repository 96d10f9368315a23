export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/** More comparisons than this are not made: then all of the old goes and all of the new comes. */
const MAX_COMPARISONS = 1_000_000;

const all = (sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign, text }));

/** The lines of both texts in order, those that are in one alone with its sign. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  return [
    ...all(" ", before.slice(0, start)),
    ...between(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...all(" ", before.slice(before.length - end)),
  ];
}

/** By the longest part that both have in common. */
function between(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > MAX_COMPARISONS) return [...all("-", before), ...all("+", after)];
  // common[i][j]: how many lines the ends from i and from j have in common.
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    const row = common[i];
    if (row === undefined) continue;
    for (let j = after.length - 1; j >= 0; j--)
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    const text = before[i] ?? "";
    if (text === after[j]) {
      lines.push({ sign: " ", text });
      i++;
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      lines.push({ sign: "-", text });
      i++;
    } else {
      lines.push({ sign: "+", text: after[j] ?? "" });
      j++;
    }
  }
  return [...lines, ...all("-", before.slice(i)), ...all("+", after.slice(j))];
}
