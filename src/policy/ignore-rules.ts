import { type IgnorePattern, parseIgnoreFile } from "./ignore-pattern.ts";

/** Ignore files of a project as they were found. All text and paths are one byte a character; paths are relative to the project's root, empty for it. */
export interface IgnoreSources {
  /** Of each folder that has a `.gitignore`. */
  readonly files: readonly { readonly folder: string; readonly text: string }[];
  /** Work trees, whose rules end where another one begins. */
  readonly repositories: readonly IgnoreRepository[];
}

export interface IgnoreRepository {
  readonly path: string;
  /** What holds for all of it, the strongest first. `prefix` leads from where the rules are meant to the repository's path here. */
  readonly lists: readonly { readonly prefix: string; readonly text: string }[];
}

interface Repository {
  readonly path: string;
  readonly folders: ReadonlyMap<string, readonly IgnorePattern[]>;
  readonly lists: readonly { readonly prefix: string; readonly patterns: readonly IgnorePattern[] }[];
}

/** Steps for one list of changes: less than a second of the processor. */
const MAX_WORK = 20_000_000;
const MAX_PATTERNS = 20_000;

/** What a project's ignore rules cover, as git decides it for what it does not track. */
export class IgnoreRules {
  readonly #repositories: readonly Repository[];

  constructor({ files, repositories }: IgnoreSources) {
    const roots = [...repositories, ...(repositories.some(({ path }) => path === "") ? [] : [{ path: "", lists: [] }])];
    // The innermost is found first.
    roots.sort((a, b) => b.path.length - a.path.length);
    const homeOf = (folder: string) => roots.find(({ path }) => isWithin(folder, path));
    this.#repositories = roots.map((root) => ({
      path: root.path,
      folders: new Map(
        files.filter(({ folder }) => homeOf(folder) === root).map((one) => [one.folder, parseIgnoreFile(one.text)]),
      ),
      lists: root.lists.map(({ prefix, text }) => ({ prefix, patterns: parseIgnoreFile(text) })),
    }));
    // Rules that are too many to be followed are not followed in part: one that is left out may be one that shows something.
    if (this.#count() > MAX_PATTERNS) this.#repositories = [];
  }

  /** Answers for one list of paths. */
  matcher(): IgnoreMatcher {
    return new IgnoreMatcher(this.#repositories);
  }

  #count(): number {
    const lists = this.#repositories.flatMap(({ folders, lists: own }) => [
      ...folders.values(),
      ...own.map(({ patterns }) => patterns),
    ]);
    return lists.reduce((total, { length }) => total + length, 0);
  }
}

export class IgnoreMatcher {
  readonly #repositories: readonly Repository[];
  readonly #folders = new Map<string, boolean>();
  readonly #work = { left: MAX_WORK };

  constructor(repositories: readonly Repository[]) {
    this.#repositories = repositories;
  }

  /**
   * Whether the rules cover a path, or a folder that it is in.
   * SECURITY: when the work is too much, they cover nothing any more: what is not looked at is shown (G-30, G-31)
   */
  covers(path: string, isFolder: boolean): boolean {
    const repository = this.#repositories.find((one) => one.path === "" || path.startsWith(`${one.path}/`));
    return repository !== undefined && this.#covers(repository, path, isFolder);
  }

  #covers(repository: Repository, path: string, isFolder: boolean): boolean {
    const known = isFolder ? this.#folders.get(path) : undefined;
    if (known !== undefined) return known;
    const parent = parentOf(path);
    const isTop = parent === repository.path;
    const covered = (!isTop && this.#covers(repository, parent, true)) || this.#excludes(repository, path, isFolder);
    if (isFolder) this.#folders.set(path, covered);
    return covered;
  }

  /** The last pattern that matches decides, of the strongest list that has one. */
  #excludes({ path: top, folders, lists }: Repository, path: string, isFolder: boolean): boolean {
    for (let folder = parentOf(path); ; folder = parentOf(folder)) {
      const found = this.#lastMatch(
        folders.get(folder) ?? [],
        folder === "" ? path : path.slice(folder.length + 1),
        isFolder,
      );
      if (found) return !found.isNegated;
      if (folder === top) break;
    }
    const below = top === "" ? path : path.slice(top.length + 1);
    for (const { prefix, patterns } of lists) {
      const found = this.#lastMatch(patterns, prefix + below, isFolder);
      if (found) return !found.isNegated;
    }
    return false;
  }

  #lastMatch(patterns: readonly IgnorePattern[], path: string, isFolder: boolean): IgnorePattern | undefined {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return patterns.findLast((pattern) => {
      if (pattern.foldersOnly && !isFolder) return false;
      this.#work.left -= 1;
      return this.#work.left > 0 && pattern.matches(pattern.byName ? name : path, this.#work);
    });
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const isWithin = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(`${folder}/`);
