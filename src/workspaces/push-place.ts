import { posix } from "node:path";
import { ClocheError } from "../base/errors.ts";
import type { BroughtTree } from "../contracts/seeds.ts";
import type { GuestEntry, GuestFiles } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../policy/workspace-path.ts";

type Found = GuestEntry["type"] | "nothing";

/** Where a push goes, and what is there: looked at before anything is brought. */
export interface PushPlace {
  readonly relative: string;
  readonly shown: string;
  readonly found: Found;
  /** Whether the folder above it is one. */
  readonly hasFolder: boolean;
  /** It was written with a slash at its end, and so is to be a folder. */
  readonly isFolder: boolean;
}

export async function lookAtPlace(files: GuestFiles, dest: string | undefined): Promise<PushPlace> {
  const relative = toWorkspaceRelative(dest ?? "");
  const shown = dest ?? toWorkspaceAbsolute("");
  const found = relative === "" ? "directory" : await typeOf(files, relative, shown);
  const above = posix.dirname(relative);
  const hasFolder = found !== "nothing" || above === "." || (await typeOf(files, above, shown)) === "directory";
  return { relative, shown, found, hasFolder, isFolder: /\/$/.test(dest ?? "") };
}

/** Into the place: what is in a folder or an archive, or a file under its own name. */
export function placeContents(place: PushPlace, kind: BroughtTree["kind"], name: string): string {
  if (place.found !== "directory" && place.found !== "nothing") throw wrongType(place, "push to");
  return kind === "file" || kind === "symlink" ? posix.join(place.relative, name) : place.relative;
}

/** As `docker cp` does: into a folder that is there, else under the name that was given. */
export function placeCopy(place: PushPlace, kind: BroughtTree["kind"], name: string): string {
  const { relative, shown, found, hasFolder, isFolder } = place;
  if (found === "directory") return posix.join(relative, name);
  if (kind === "directory") {
    if (found !== "nothing") throw wrongType(place, "copy a folder to");
  } else if (isFolder) {
    if (found !== "nothing") throw wrongType(place, "copy into");
    throw missing(shown, toWorkspaceAbsolute(relative));
  }
  if (!hasFolder) throw missing(shown, toWorkspaceAbsolute(posix.dirname(relative)));
  return relative;
}

/** A folder is filled and never takes the place of something else, and neither does a file that of a folder. */
export async function checkTarget(files: GuestFiles, target: string, kind: BroughtTree["kind"]): Promise<void> {
  if (target === "") return;
  const shown = toWorkspaceAbsolute(target);
  const found = await typeOf(files, target, shown);
  const fits = kind === "file" || kind === "symlink" ? found !== "directory" : found === "directory";
  if (found !== "nothing" && !fits) throw wrongType({ shown, found }, "copy to");
}

async function typeOf(files: GuestFiles, relative: string, shownPath: string): Promise<Found> {
  try {
    return (await files.stat("workspace", relative, { shownPath })).type;
  } catch (error) {
    if (error instanceof ClocheError && error.code === "FILE_NOT_FOUND") return "nothing";
    throw error;
  }
}

function wrongType({ shown, found }: Pick<PushPlace, "shown" | "found">, action: string): Error {
  const what = found === "other" ? "no folder" : `a ${found}`;
  return failure("FILE_WRONG_TYPE", `Cannot ${action} "${shown}": it is ${what}`);
}

function missing(shown: string, folder: string): Error {
  return failure("FILE_NOT_FOUND", `Cannot copy to "${shown}": there is no folder "${folder}"`, {
    hint: "Make the folder first, or name one that is there",
  });
}
