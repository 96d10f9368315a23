import { accountHomes } from "./account-homes.ts";
import { HOST_CONFIGURATION, SYSTEM_FOLDERS } from "./host-allowlist.ts";
import { type FileLocation, MountTable, wayBelow } from "../base/file-location.ts";
import { join } from "node:path";

/** What shows of the host. */
export interface HostFolders {
  /** Folders that show at the same path. */
  readonly shown: readonly string[];
  /** Places below them that do not. */
  readonly covered: readonly string[];
}

export const NO_HOST_FOLDERS: HostFolders = { shown: [], covered: [] };

/**
 * Of these folders of the host below `root`, what may be shown. Looked up anew at every use: a home may have moved, or become a link, since the last.
 *
 * SECURITY: by where things really are, so that neither a link nor a bind mount shows what must not be seen: not `hidden`, which are the user's own places, not the
 * home of any account, not the configuration of programs for the whole host, which may hold a credential. A folder that is such a place, or lies in
 * one, stays out; a place that lies below a folder is covered, and so is one that is not there yet (G-01).
 */
export function hostFolders(root: string, candidates: readonly string[], hidden: readonly string[]): HostFolders {
  const table = new MountTable();
  const locate = (path: string) => table.locate(join(root, path));
  const top = locate("/");
  const isTop = (place: FileLocation) => wayBelow(top, place) !== undefined;
  const { people, services } = accountHomes(join(root, "etc/passwd"));
  // A home such as "/" says nothing about what is below it.
  const closed = places([...hidden, ...people], locate).filter((place) => !isTop(place));
  let system: FileLocation[] | undefined; // seldom asked for: most are told by their names
  const isSystem = (place: FileLocation) =>
    (system ??= places(SYSTEM_FOLDERS, locate)).some((folder) => wayBelow(folder, place) === "");
  const named = services.filter((home) => !SYSTEM_FOLDERS.includes(home));
  const others = places(named, locate);
  const configuration = places(HOST_CONFIGURATION, locate);
  const covered = new Set<string>();
  const cover = (path: string, way: string | undefined) => way && covered.add(join(path, way));
  const shown = candidates.filter((path) => {
    const folder = locate(path);
    if (closed.some((place) => wayBelow(folder, place) !== undefined)) return false;
    for (const place of [...closed, ...configuration]) cover(path, wayBelow(place, folder));
    for (const place of others) {
      const way = wayBelow(place, folder);
      if (way && !isSystem(place)) cover(path, way);
    }
    return true;
  });
  return { shown, covered: [...covered].sort() };
}

const places = (paths: readonly string[], locate: (path: string) => FileLocation): FileLocation[] =>
  [...new Set(paths)].map(locate);
