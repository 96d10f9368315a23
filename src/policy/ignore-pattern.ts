/**
 * One line of an ignore file, as git reads it. Text is one byte a character, as git compares it.
 * SECURITY: patterns come with a project and names from a sandbox. Each character of a name is looked at once for each part of a pattern, whatever both are:
 * there is no way back to take, as in a regular expression, that could be taken again and again (G-31).
 */
export interface IgnorePattern {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  /** Compared with the last part of a path alone, at any depth. */
  readonly byName: boolean;
  /** `name` is relative to the folder of the ignore file, or the last part of it. What it takes is counted; nothing matches any more when that is too much. */
  matches(name: string, work: Work): boolean;
}

/** How many steps there are left. */
export interface Work {
  left: number;
}

const BOM = "\u00EF\u00BB\u00BF";
const SPECIAL = /[*?[\\]/;

/** Every pattern of an ignore file, in its order. */
export function parseIgnoreFile(text: string): IgnorePattern[] {
  const lines = (text.startsWith(BOM) ? text.slice(BOM.length) : text).split("\n");
  return lines.flatMap((line) => {
    if (line === "" || line.startsWith("#")) return [];
    const bare = trimBlanks(line.replace(/\r$/, "").split("\0", 1)[0] ?? "");
    return bare === "" ? [] : [parsePattern(bare)];
  });
}

/** Blanks at the end go, unless there is a backslash before them. */
function trimBlanks(line: string): string {
  let end = -1;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === " ") {
      if (end < 0) end = at;
      continue;
    }
    if (line[at] === "\\" && (at += 1) >= line.length) return line;
    end = -1;
  }
  return end < 0 ? line : line.slice(0, end);
}

function parsePattern(line: string): IgnorePattern {
  const isNegated = line.startsWith("!");
  const whole = isNegated ? line.slice(1) : line;
  const foldersOnly = whole.endsWith("/");
  const body = foldersOnly ? whole.slice(0, -1) : whole;
  const byName = !body.includes("/");
  const pattern = body.startsWith("/") ? body.slice(1) : body;
  const special = pattern.search(SPECIAL);
  const literal = special < 0 ? pattern : pattern.slice(0, special);
  const kind = { isNegated, foldersOnly, byName };
  if (special < 0) return { ...kind, matches: (name) => name === pattern };
  if (byName && pattern.startsWith("*") && !SPECIAL.test(pattern.slice(1))) {
    const end = pattern.slice(1);
    return { ...kind, matches: (name) => name.endsWith(end) };
  }
  // What is plain text at the start is cut off first, and `**` behind it stands at the beginning then: git has it so.
  const rest = compileGlob(pattern.slice(literal.length), !byName);
  const matches = (name: string, work: Work) => {
    if (rest === undefined || !name.startsWith(literal)) return false;
    work.left -= rest.length * (name.length - literal.length);
    return work.left > 0 && matchesGlob(rest, name, literal.length);
  };
  return { ...kind, matches };
}

/** One part of a pattern: characters that it takes, once or, as a star, any number of times. */
interface Part {
  readonly takes: Uint8Array;
  readonly isStar: boolean;
  /** `**` and the slash behind it stand for nothing, too. */
  readonly skips: number;
}

const ALL = new Uint8Array(256).fill(1);
const NO_SLASH = ALL.slice().fill(0, 47, 48);
const single = (code: number): Uint8Array => new Uint8Array(256).fill(1, code, code + 1);

/** Undefined for what never matches. Within paths only `**` between slashes takes a slash. */
function compileGlob(glob: string, isPath: boolean): Part[] | undefined {
  const parts: Part[] = [];
  const other = isPath ? NO_SLASH : ALL;
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at];
    if (char === "*") {
      const start = at;
      while (glob[at + 1] === "*") at += 1;
      const wide = at > start && isBetweenSlashes(glob, start, at + 1);
      parts.push({ takes: wide ? ALL : other, isStar: true, skips: wide && glob[at + 1] === "/" ? 2 : 0 });
    } else if (char === "?") parts.push({ takes: other, isStar: false, skips: 0 });
    else if (char === "[") {
      const set = parseSet(glob, at);
      if (set === undefined) return undefined;
      if (isPath) set.takes[47] = 0;
      parts.push({ takes: set.takes, isStar: false, skips: 0 });
      at = set.end;
    } else {
      if (char === "\\" && (at += 1) >= glob.length) return undefined;
      parts.push({ takes: single(glob.charCodeAt(at)), isStar: false, skips: 0 });
    }
  }
  return parts;
}

function isBetweenSlashes(glob: string, start: number, end: number): boolean {
  const isFirst = start === 0 || glob[start - 1] === "/";
  return isFirst && (end === glob.length || glob[end] === "/" || glob.startsWith("\\/", end));
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // eslint-disable-next-line no-control-regex -- it is the class of these
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** `[…]` from its bracket on; `end` is where it closes. Undefined when it does not, or names no class. */
function parseSet(glob: string, open: number): { takes: Uint8Array; end: number } | undefined {
  const takes = new Uint8Array(256);
  let at = open + 1;
  const isNegated = glob[at] === "!" || glob[at] === "^";
  if (isNegated) at += 1;
  let before = 0; // what a range would begin with
  for (let isFirst = true; isFirst || glob[at] !== "]"; isFirst = false, at += 1) {
    if (at >= glob.length) return undefined;
    let code = glob.charCodeAt(at);
    if (glob[at] === "\\") {
      if ((at += 1) >= glob.length) return undefined;
      code = glob.charCodeAt(at);
      takes[code] = 1;
    } else if (glob[at] === "-" && before > 0 && at + 1 < glob.length && glob[at + 1] !== "]") {
      if (glob[(at += 1)] === "\\" && (at += 1) >= glob.length) return undefined;
      takes.fill(1, before, Math.max(before, glob.charCodeAt(at) + 1));
      code = 0;
    } else if (glob.startsWith("[:", at)) {
      const close = glob.indexOf("]", at + 2);
      if (close < 0) return undefined;
      if (close > at + 2 && glob[close - 1] === ":") {
        const kind = CLASSES[glob.slice(at + 2, close - 1)];
        if (kind === undefined) return undefined;
        for (let one = 0; one < 128; one += 1) if (kind.test(String.fromCharCode(one))) takes[one] = 1;
        at = close;
        code = 0;
      } else takes[code] = 1;
    } else takes[code] = 1;
    before = code;
  }
  return { takes: isNegated ? takes.map((one) => 1 - one) : takes, end: at };
}

/** All ways through the pattern at once, a character of the name after the other. */
function matchesGlob(parts: readonly Part[], name: string, from: number): boolean {
  const last = parts.length;
  let now = new Uint8Array(last + 1);
  let next = new Uint8Array(last + 1);
  enter(parts, now, 0);
  for (let at = from; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    let alive = false;
    next.fill(0);
    for (let index = 0; index < last; index += 1) {
      if (now[index] !== 1) continue;
      const part = parts[index];
      if (part?.takes[code] !== 1) continue;
      alive = true;
      if (part.isStar) next[index] = 1;
      enter(parts, next, index + 1);
    }
    if (!alive) return false;
    [now, next] = [next, now];
  }
  return now[last] === 1;
}

/** Comes to a part from the one before it: a star may take nothing. */
function enter(parts: readonly Part[], states: Uint8Array, index: number): void {
  states[index] = 1;
  const part = parts[index];
  if (part?.isStar !== true) return;
  enter(parts, states, index + 1);
  if (part.skips > 0) enter(parts, states, index + part.skips);
}
