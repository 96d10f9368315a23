/** How a glob stands to a path: it matches the path or a folder above it, it may match something below it, or neither. */
export type Cover = "all" | "below" | "none";

const ANY_DEPTH = "**";

/**
 * A glob as in a `.gitignore`: `*` and `?` stand for characters of one name, `**` for folders in between. One without a slash in it matches at any depth, any
 * other from the top. What matches a folder takes all that is in it. Every other character stands for itself.
 */
export class PathGlob {
  /** As it was given. */
  readonly text: string;
  readonly parts: readonly string[];

  /** Check `globProblem` first. */
  constructor(text: string) {
    this.text = text;
    const named = text.split("/").filter((part) => part !== "" && part !== ".");
    this.parts = text.replace(/\/+$/, "").includes("/") ? named : [ANY_DEPTH, ...named];
  }

  /** `path` is relative, without a slash at its ends. Takes time by the length of both, however many wildcards there are. */
  covers(path: string): Cover {
    let at = this.#opened(new Set([0]));
    for (const name of path === "" ? [] : path.split("/")) {
      if (at.has(this.parts.length)) return "all";
      const next = new Set<number>();
      for (const index of at) {
        const part = this.parts[index] ?? "";
        if (part === ANY_DEPTH) next.add(index);
        else if (matches(part, name)) next.add(index + 1);
      }
      if (next.size === 0) return "none";
      at = this.#opened(next);
    }
    return at.has(this.parts.length) && path !== "" ? "all" : "below";
  }

  /** `**` also stands for no folder at all. */
  #opened(at: Set<number>): Set<number> {
    for (const index of at) if (this.parts[index] === ANY_DEPTH) at.add(index + 1);
    return at;
  }
}

/** What is wrong with a glob; undefined for one that can be used. */
export function globProblem(text: string): string | undefined {
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) return "it names nothing";
  if (parts.includes("..")) return 'it has ".."';
  if (text.includes("\0")) return "it has a NUL byte";
  return undefined;
}

/** Whether a name matches, in time by the length of both: what is tried again is tried from the last star only. */
function matches(pattern: string, name: string): boolean {
  let [at, seen, star, since] = [0, 0, -1, 0];
  while (seen < name.length) {
    if (pattern[at] === "*") {
      star = at++;
      since = seen;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[seen])) {
      at += 1;
      seen += 1;
    } else if (star >= 0) {
      at = star + 1;
      seen = ++since;
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
