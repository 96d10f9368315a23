import { type Cover, PathGlob } from "./path-glob.ts";
import { isSecretPath, namesSecrets } from "./secret-names.ts";

export interface IncludeRules {
  /** All of what is ignored, but for what is likely to be a secret. */
  readonly ignored: boolean;
  /** What is ignored and matches one of these. */
  readonly globs: readonly string[];
}

/** Which ignored files come along with a seed. Paths are relative to where the rules begin. */
export class SeedInclude {
  readonly #all: boolean;
  readonly #globs: readonly {
    readonly glob: PathGlob;
    readonly namesSecrets: boolean;
    readonly used: { yes: boolean };
  }[];

  constructor({ ignored, globs }: IncludeRules) {
    this.#all = ignored;
    this.#globs = globs.map((text) => {
      const glob = new PathGlob(text);
      return { glob, namesSecrets: namesSecrets(glob.parts), used: { yes: false } };
    });
  }

  covers(path: string): Cover {
    let found: Cover = this.#all ? "all" : "none";
    for (const { glob, used } of this.#globs) {
      const cover = glob.covers(path);
      if (cover === "all") used.yes = true;
      found = stronger(found, cover);
    }
    return found;
  }

  /**
   * Whether a file that is covered may come.
   * SECURITY: what is likely to be a secret comes only with a glob that names it, whatever else covers it (G-32).
   */
  lets(path: string): boolean {
    return !isSecretPath(path) || this.#globs.some((one) => one.namesSecrets && one.glob.covers(path) === "all");
  }

  /** Globs that have matched nothing of what was asked about. */
  get unmatched(): string[] {
    return this.#globs.filter(({ used }) => !used.yes).map(({ glob }) => glob.text);
  }
}

const STRENGTH: Readonly<Record<Cover, number>> = { none: 0, below: 1, all: 2 };

const stronger = (one: Cover, other: Cover): Cover => (STRENGTH[one] >= STRENGTH[other] ? one : other);

/** What both allow. */
export const weaker = (one: Cover, other: Cover): Cover => (STRENGTH[one] <= STRENGTH[other] ? one : other);
