import { existsSync, realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../../base/exact-path.ts";
import { failure } from "../../model/error-codes.ts";
import type { CreateOptions, LongCallOptions } from "../../sdk/options.ts";
import { realPathOf } from "../scope/real-path.ts";
import { RepositoryClone, withoutCredentials } from "./repository-clone.ts";

export interface ProjectOptions {
  readonly project_path?: string | undefined;
  readonly repo_url?: string | undefined;
  readonly repo_ref?: string | undefined;
  readonly no_project_source?: boolean | undefined;
}

interface ProjectSeed extends Pick<CreateOptions, "origin_kind" | "origin_ref"> {
  /** A folder of the host, by its real path. */
  readonly path: string;
}

/** Where the files of a workspace come from when the call names no seed. */
export interface ProjectSource extends AsyncDisposable {
  /** For the description of `workspace_create`. */
  readonly sentence: string;
  /** The folder of the host that is the project, by its real path; undefined when there is none. */
  readonly root: string | undefined;
  /** The same for servers of the same project; undefined when there is none. */
  readonly identity: string | undefined;
  /** Undefined for a workspace that starts empty. */
  seed(options: LongCallOptions): Promise<ProjectSeed | undefined>;
}

const NOTHING: ProjectSource = {
  sentence: "Without seed_path it starts empty.",
  root: undefined,
  identity: undefined,
  seed: () => Promise.resolve(undefined),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** Decides what the project is: what was named, else the git checkout around the folder. Looks at names only, so that a start is quick. */
export function openProjectSource(options: ProjectOptions, cwd: string | undefined, home: string): ProjectSource {
  const { project_path: path, repo_url: url, repo_ref: ref, no_project_source: none } = options;
  refuseContradictions(options);
  if (none) return NOTHING;
  if (url !== undefined) return fromRepository(url, ref, home);
  if (path !== undefined) return fromFolder(existingFolder(resolve(cwd ?? ".", path)));
  const checkout = cwd === undefined ? undefined : findCheckout(cwd);
  return checkout === undefined ? NOTHING : fromFolder(checkout);
}

function refuseContradictions({ project_path, repo_url, repo_ref, no_project_source }: ProjectOptions): void {
  const given = [
    ...(project_path === undefined ? [] : ["project_path"]),
    ...(repo_url === undefined ? [] : ["repo_url"]),
    ...(no_project_source ? ["no_project_source"] : []),
  ];
  if (given.length > 1) {
    throw failure("USAGE", `The project source is given twice: ${given.join(" and ")}`, { hint: "Give one of them" });
  }
  if (repo_ref !== undefined && repo_url === undefined) {
    throw failure("USAGE", "A repo_ref needs a repo_url", { hint: "Say which repository the ref is of" });
  }
}

function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path);
  throw failure("SEED_NOT_FOUND", `There is no folder "${path}"`, { hint: "Give the path of an existing folder" });
}

/** The folder with the nearest `.git`, which is a file in worktrees and submodules. */
function findCheckout(from: string): string | undefined {
  const home = realPathOf(homedir());
  for (let folder = realPathOf(resolve(from)); ; folder = dirname(folder)) {
    // SECURITY: who keeps the home itself in git has not said that tools may read all of it (G-23)
    if (isInside(home, folder)) return undefined;
    if (existsSync(join(folder, ".git"))) return folder;
  }
}

function fromFolder(path: string): ProjectSource {
  const ignored = existsSync(join(path, ".git")) ? " that git does not ignore" : "";
  return {
    sentence: `Without seed_path it starts with the files of ${path}${ignored}.`,
    root: path,
    identity: path,
    seed: () => Promise.resolve({ path, origin_kind: "project_path", origin_ref: path }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function fromRepository(url: string, ref: string | undefined, home: string): ProjectSource {
  const clone = new RepositoryClone(url, ref, home);
  const shown = withoutCredentials(url);
  const origin = ref === undefined ? shown : `${shown}#${ref}`;
  return {
    sentence: `Without seed_path it starts with a clean clone of ${shown}${ref === undefined ? "" : ` at ${ref}`}.`,
    root: undefined,
    identity: origin,
    seed: async (options) => ({
      path: await realpath(await clone.folder(options)),
      origin_kind: "repo_url",
      origin_ref: origin,
    }),
    [Symbol.asyncDispose]: () => clone[Symbol.asyncDispose](),
  };
}
