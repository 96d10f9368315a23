import type { Cover } from "../policy/path-glob.ts";
import { type SeedInclude, weaker } from "../policy/seed-include.ts";
import type { BytePath } from "./byte-path.ts";

/** Rules and the folder of the scan that their paths begin at. */
export interface PlacedInclude {
  readonly include: SeedInclude;
  readonly base: BytePath;
}

/** Which ignored paths of a scan come along: those that all the rules let come. Without rules none does. */
export class IncludedPaths {
  readonly #rules: readonly PlacedInclude[];

  constructor(rules: readonly PlacedInclude[]) {
    this.#rules = rules;
  }

  covers(path: BytePath): Cover {
    let found: Cover = this.#rules.length === 0 ? "none" : "all";
    for (const { include, base } of this.#rules) {
      const own = below(path, base);
      found = weaker(found, own === undefined ? (isAbove(path, base) ? "below" : "none") : include.covers(own));
    }
    return found;
  }

  /** SECURITY: each of the rules has to name a secret: those of the caller, and those of who decides what the caller may read (G-32). */
  lets(path: BytePath): boolean {
    return this.#rules.every(({ include, base }) => include.lets(below(path, base) ?? path));
  }
}

function below(path: BytePath, base: BytePath): BytePath | undefined {
  if (base === "") return path;
  if (path === base) return "";
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined;
}

const isAbove = (path: BytePath, base: BytePath): boolean => base.startsWith(`${path}/`);
