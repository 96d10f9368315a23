import { stat } from "node:fs/promises";
import { basename, join, posix, resolve } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import { usageError } from "./usage-error.ts";

/** One side of a copy: a path of the host, or one of a workspace. */
export type CopyEnd =
  | { readonly kind: "host"; readonly path: string }
  | { readonly kind: "workspace"; readonly id: string; readonly path: string };

/** As `docker cp` reads it: what has a colon is of a workspace, unless a slash or a dot comes first. */
export function parseCopyEnd(text: string): CopyEnd {
  const [, id, path] = /^([^/.:][^/:]*):(.*)$/s.exec(text) ?? [];
  return id === undefined ? { kind: "host", path: text } : { kind: "workspace", id, path: path || "/workspace" };
}

export type CopyPlan =
  | {
      readonly way: "in";
      readonly id: string;
      readonly source: string;
      readonly dest: string;
      readonly contents: boolean;
    }
  | { readonly way: "out"; readonly id: string; readonly path: string; readonly dest: string };

export function planCopy(source: string, dest: string, words: readonly string[]): CopyPlan {
  const [from, to] = [parseCopyEnd(source), parseCopyEnd(dest)];
  if (from.kind === to.kind) {
    const message =
      from.kind === "host"
        ? "Neither side is of a workspace"
        : "Both sides are of a workspace: copy out to the host first, then in";
    throw usageError(words, message, "Write one side as ID:PATH, and a file of the host that has a colon as ./NAME.");
  }
  for (const [end, text] of [
    [from, source],
    [to, dest],
  ] as const) {
    if (end.path === "" || text === "-") throw usageError(words, `"${text}" is no path`);
  }
  // What ends with "/." is what is in a folder, and not the folder.
  if (to.kind === "workspace") {
    return { way: "in", id: to.id, source: from.path, dest: to.path, contents: /(^|\/)\.$/.test(from.path) };
  }
  return { way: "out", id: from.kind === "workspace" ? from.id : "", path: from.path, dest: to.path };
}

export interface HostPlace {
  readonly path: string;
  /** It is a folder that is there, and gets what is in another. */
  readonly isFilled: boolean;
}

/** Where a thing of a workspace goes on the host: into a folder that is there, else under the name that was given. */
export async function hostPlace(cwd: string, path: string, dest: string): Promise<HostPlace> {
  const place = resolve(cwd, dest);
  const found = await stat(place).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  });
  const contents = /(^|\/)\.$/.test(path);
  if (found?.isDirectory()) {
    return contents ? { path: place, isFilled: true } : { path: join(place, nameOf(path)), isFilled: false };
  }
  if (/\/\.?$/.test(dest)) {
    throw failure("OUTPUT_INVALID", `Cannot copy to "${dest}": there is no such folder`, {
      hint: "Make the folder first, or leave the slash out",
    });
  }
  return { path: place, isFilled: false };
}

/** SECURITY: the name is of the path that was typed, never of something that a sandbox has made (G-12). */
const nameOf = (path: string): string => basename(posix.resolve("/workspace", path)) || "workspace";
