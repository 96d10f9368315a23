/** Of all patterns of one proposal together. A pattern that people write has some tens. */
export const MAX_PATTERN_SIZE = 20_000;

/**
 * How large a pattern becomes when it is compiled, counted without compiling it: each of its parts as often as it is repeated. A few characters, such as `x{1000}`, can be
 * very much.
 */
export function patternSize(pattern: string): number {
  // Of the groups that are open, the outermost first: what is in each so far.
  const open: number[] = [0];
  // Of what a number in braces would repeat.
  let last = 0;
  const add = (size: number) => {
    last = size;
    open.push((open.pop() ?? 0) + size);
  };
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at, at + MAX_WORD);
    const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(rest);
    const quoted = /^\\Q([^]*?)(?:\\E|$)/.exec(rest);
    const one =
      repeat ?? quoted ?? /^\\[pPx]\{[^}]*\}|^\\[^]?|^\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]?|^[^]/.exec(rest);
    const text = one?.[0] ?? "";
    if (quoted) for (const _ of quoted[1] ?? "") add(1);
    else if (repeat) add(last * (Math.max(Number(repeat[1]), Number(repeat[2] ?? 0)) - 1));
    else if (text === "(") open.push(0);
    else if (text === ")" && open.length > 1) add((open.pop() ?? 0) + 2);
    else add(1);
    at += Math.max(1, text.length);
  }
  return open.reduce((sum, size) => sum + size, 0);
}

/** No part of a pattern is longer than a pattern may be. */
const MAX_WORD = 4096;

interface WithPatterns {
  readonly matches?:
    | readonly {
        readonly paths?: readonly { readonly type: string; readonly value: string }[] | undefined;
        readonly headers?: readonly { readonly type?: string | undefined; readonly value: string }[] | undefined;
      }[]
    | null
    | undefined;
}

/** Whether the patterns of these routes are more than anybody should compile for somebody who asks. SECURITY: an agent's words keep neither gate nor daemon busy (G-176) */
export function areTooLarge(routes: readonly WithPatterns[]): boolean {
  let size = 0;
  for (const { matches } of routes)
    for (const { paths, headers } of matches ?? [])
      for (const { type, value } of [...(paths ?? []), ...(headers ?? [])])
        if (type === "regex" && (size += patternSize(value)) > MAX_PATTERN_SIZE) return true;
  return false;
}
