import { lstatSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { isInside } from "../../base/exact-path.ts";
import { failure } from "../../model/error-codes.ts";
import type { ReadScope } from "../../model/read-scope.ts";
import type { CreateOptions } from "../../sdk/options.ts";
import { realPathOf } from "./real-path.ts";
import { refused } from "./refused.ts";

export interface ScopedSource {
  readonly path: string;
  readonly read_scope: ReadScope;
}

export interface ReadRules {
  readonly project: string | undefined;
  readonly allowed: readonly string[];
  /** Globs of ignored files of the project that calls may include. */
  readonly ignored: readonly string[];
}

type Asked = Pick<CreateOptions, "include" | "include_ignored">;

/** What may be read of the host: the project as its seed brings it, and what the operator allows. The daemon holds a call to what is decided here. */
export class HostReads {
  readonly #project: string | undefined;
  readonly #allowed: readonly string[];
  readonly #ignored: readonly string[];

  /** `project` by its real path; `allowed` relative to `cwd`. */
  constructor({ project, allowed, ignored }: ReadRules, cwd: string) {
    this.#project = project;
    this.#allowed = allowed.map((path) => realPathOf(resolve(cwd, path)));
    this.#ignored = ignored;
  }

  /**
   * How the project itself is read.
   * SECURITY: of what git ignores a call gets what the operator has named, and nothing by default (G-23).
   */
  projectScope(root: string): ReadScope {
    return { root, kind: "project", ...(this.#ignored.length > 0 && { ignored: [...this.#ignored] }) };
  }

  /** SECURITY: said at once, where nothing of what a call wants to include can come (G-23). */
  checkInclude({ include, include_ignored: all }: Asked, scope: ReadScope | undefined): void {
    const wants = all === true || (include?.length ?? 0) > 0;
    if (!wants || scope?.kind === "folder" || this.#ignored.length > 0) return;
    throw refused("Cannot include what git ignores", `--allow-ignored ${include?.[0] ?? "GLOB"}`, "leave it out, or ");
  }

  /** For people. */
  get words(): string {
    const but = this.#ignored.length === 0 ? "" : ` but ${this.#ignored.join(", ")}`;
    const project = this.#project === undefined ? [] : [`${this.#project}, without what git ignores${but}`];
    return [...project, ...this.#allowed].join("; ") || "nothing";
  }

  /** All that is allowed beside the project. */
  get allowed(): readonly string[] {
    return this.#allowed;
  }

  /** A folder or archive that a call names, relative to the project. */
  source(given: string): ScopedSource {
    const path = resolve(this.#project ?? "/", given);
    const real = this.#real(path);
    const allowed = this.#allowed.find((root) => real !== undefined && isInside(real, root));
    if (real !== undefined && allowed !== undefined)
      return { path: real, read_scope: { root: allowed, kind: "folder" } };
    if (this.#project !== undefined) {
      if (real !== undefined && isInside(real, this.#project))
        return { path: real, read_scope: this.projectScope(this.#project) };
      if (real === undefined && this.#isMissing(path, this.#project))
        throw failure("SEED_NOT_FOUND", `There is no "${path}"`);
    }
    // SECURITY: the same words whether it is there or not (G-23)
    const where =
      this.#project === undefined
        ? "the server has no project"
        : `it, or where a link on it leads, is not below ${this.#project}`;
    throw refused(`Cannot read "${path}": ${where}`, `--allow-read ${path}`);
  }

  /** A file with a secret: never one of the project, which has no secret to bring that its seed does not. */
  secretFile(given: string): { readonly file_path: string; readonly within: string } {
    const path = resolve(this.#project ?? "/", given);
    const real = this.#real(path);
    const within = this.#allowed.find((root) => real !== undefined && isInside(real, root));
    if (real !== undefined && within !== undefined) return { file_path: real, within };
    throw refused(`Cannot read the secret's file "${path}"`, `--allow-read ${path}`, "give its value, or ");
  }

  /** SECURITY: that something is missing is told of the project itself: a link of it must not tell what is behind it (G-23). */
  #isMissing(path: string, project: string): boolean {
    if (!isInside(path, project)) return false;
    let at = project;
    for (const name of relative(project, path).split("/")) {
      at = join(at, name);
      const found = lstatSync(at, { throwIfNoEntry: false });
      if (found === undefined) return true;
      if (found.isSymbolicLink()) return false;
      if (!found.isDirectory()) return true; // nothing can be below it
    }
    return false;
  }

  #real(path: string): string | undefined {
    try {
      return realpathSync(path);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return undefined; // not there, or not to be seen
    }
  }
}
