import { closeSync, constants, openSync, writeSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { isInside, namedIn, NotExact, openMadeFolder } from "../../base/exact-path.ts";
import { failure } from "../../model/error-codes.ts";
import { realPathOf } from "./real-path.ts";
import { refused } from "./refused.ts";

interface Root {
  /** As the operator wrote it. */
  readonly given: string;
  readonly real: string;
}

export interface ScopedOutput {
  readonly output_path: string;
  readonly cautious: true;
}

/** In the project; its own ignore file keeps it out of git, and so out of what is seeded. */
const EXPORTS = ".cloche/exports";

/** Where exports may go: new paths in one folder, and what the operator allows. */
export class HostWrites {
  readonly #folder: Root | undefined;
  /** Whether the folder gets an ignore file. */
  readonly #inProject: boolean;
  readonly #allowed: readonly Root[];

  /** `project` by its real path; the others relative to `cwd`. */
  constructor(project: string | undefined, outputDir: string | undefined, allowed: readonly string[], cwd: string) {
    const rootOf = (path: string): Root => ({ given: resolve(cwd, path), real: realPathOf(resolve(cwd, path)) });
    this.#inProject = outputDir === undefined;
    if (outputDir !== undefined) this.#folder = rootOf(outputDir);
    else if (project !== undefined) {
      // Not by its real path: a project may bring a link of that name, which is then found to be one.
      const exports = join(project, EXPORTS);
      this.#folder = { given: exports, real: exports };
    }
    this.#allowed = allowed.map(rootOf);
  }

  /** For people. */
  get words(): string {
    const roots = [...(this.#folder ? [this.#folder] : []), ...this.#allowed].map(({ real }) => real);
    return roots.length === 0 ? "nothing" : `new paths below ${roots.join("; ")}`;
  }

  /** The folder that relative paths are in; undefined where exports are refused. */
  get folder(): string | undefined {
    return this.#folder?.real;
  }

  /** The same in few words. */
  get shown(): string {
    return this.#inProject ? EXPORTS : (this.folder ?? "nowhere");
  }

  /** Decides about an output path, and makes the output folder when it goes there. The daemon follows no link on the way. */
  output(given: string): ScopedOutput {
    if (/^~(\/|$)/.test(given)) {
      throw failure("OUTPUT_INVALID", `Cannot write "${given}": "~" does not stand for a home here`, {
        hint: "Give a name such as report.md, or the whole path",
      });
    }
    const path = resolve(this.#folder?.real ?? "/", given);
    // SECURITY: one export after the other would make a git repository of a folder, which runs what it says (G-23)
    if (["head", "objects", "commondir"].includes(basename(path).toLowerCase())) {
      throw failure("OUTPUT_INVALID", `Cannot write "${path}": git would take its folder for a repository`, {
        hint: "Choose another name",
      });
    }
    const [folder] = [this.#folder].flatMap((root) => placeIn(root, path));
    if (folder !== undefined) {
      this.#makeFolder(folder.root.real);
      return { output_path: folder.place, cautious: true };
    }
    const allowed = this.#allowed.flatMap((root) =>
      path === root.given ? [root.real] : placeIn(root, path).map(({ place }) => place),
    );
    if (allowed[0] !== undefined) return { output_path: allowed[0], cautious: true };
    if (this.#folder === undefined) {
      throw refused(`Cannot write "${path}": the server has no output folder`, "--output-dir FOLDER");
    }
    if (path === this.#folder.real) {
      throw failure("OUTPUT_INVALID", `Cannot write "${path}": it is the output folder itself`, {
        hint: "Name a new path in it",
      });
    }
    const dots = [this.#folder, ...this.#allowed].some(({ real }) => isInside(path, real));
    const why = dots ? "a name on the way begins with a dot" : `it is not below ${this.#folder.real}`;
    throw refused(
      `Cannot write "${path}": ${why}`,
      `--allow-write ${path}`,
      `name a new path below ${this.#folder.real}, or `,
    );
  }

  #makeFolder(path: string): void {
    let fd: number;
    try {
      fd = openMadeFolder(path);
    } catch (error) {
      // SECURITY: a project may bring `.cloche` as a link to anywhere (G-23)
      const why =
        error instanceof NotExact ? "something on the way to it is a link, or not a folder" : messageOf(error);
      throw failure("OUTPUT_INVALID", `Cannot write to "${path}": ${why}`, {
        hint: "The operator of the server can give another folder with --output-dir",
      });
    }
    try {
      if (this.#inProject) writeIgnoreFile(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** The real place of a path below a root, by whichever name of it; empty when the path is not below the root, or a name in it begins with a dot. */
function placeIn(root: Root | undefined, path: string): { readonly root: Root; readonly place: string }[] {
  const named = root && [root.real, root.given].find((one) => isInside(path, one));
  if (root === undefined || named === undefined) return [];
  const names = relative(named, path).split("/");
  // SECURITY: `.git/hooks`, `.envrc` and their like are run by somebody who did not ask for it (G-23)
  return names.some((name) => name === "" || name.startsWith(".")) ? [] : [{ root, place: join(root.real, ...names) }];
}

function writeIgnoreFile(folder: number): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    const fd = openSync(namedIn(folder, ".gitignore"), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
    writeSync(fd, "*\n");
    closeSync(fd);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}
