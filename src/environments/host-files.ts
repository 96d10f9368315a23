import { ETC_ALLOWLIST, SECRET_CONTENT, SECRET_NAME } from "./host-allowlist.ts";
import { errnoOf } from "../base/errors.ts";
import { constants, lstatSync, readdirSync, readlinkSync, type BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Something of the host's `/etc` that may be shown. `path` is relative to `/etc`; parents come before their children. */
export interface HostEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  /** Differs when the content may differ. */
  readonly stamp: string;
  readonly target?: string;
}

const WORLD_READ = 0o004n;
const WORLD_ENTER = 0o005n;
/** A folder that changed so lately may have changed again within one tick of the file system's clock. */
const SETTLED_MS = 2000;

/** What a folder held when it had that stamp. A link cannot be edited in place, so it is the same for as long as its folder is. */
interface KnownFolder {
  readonly stamp: string;
  readonly names: readonly string[];
  readonly links: Map<string, HostEntry>;
}
export type KnownFolders = Map<string, KnownFolder>;

/**
 * Lists what the allowlist lets through. Synchronous on purpose: it is many small calls, several times faster this way, and happens when a
 * workspace is created. `known` remembers folders from one call to the next, which spares the most of them.
 */
export function listHostEntries(
  etc: string,
  allowlist: readonly string[] = ETC_ALLOWLIST,
  known: KnownFolders = new Map(),
): HostEntry[] {
  const walk: Walk = { etc, known, found: new Map() };
  let names: string[] | undefined;
  const expand = (pattern: string): string[] => {
    if (!pattern.endsWith("*")) return [pattern];
    names ??= namesIn(etc);
    return names.filter((name) => name.startsWith(pattern.slice(0, -1)));
  };
  for (const pattern of allowlist) {
    for (const path of expand(pattern)) {
      if (parentsOf(path).every((parent) => walk.found.has(parent) || addParent(walk, parent))) collect(walk, path);
    }
  }
  return [...walk.found.values()];
}

interface Walk {
  readonly etc: string;
  readonly known: KnownFolders;
  readonly found: Map<string, HostEntry>;
}

/** The file's content, or undefined when it may not be shown after all. */
export async function readHostFile(etc: string, path: string): Promise<Uint8Array | undefined> {
  try {
    // SECURITY: opened without following a link and judged by the descriptor, so that nothing is swapped in between (G-01)
    const file = await open(join(etc, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile() || !(stats.mode & WORLD_READ)) return undefined;
      const data = await file.readFile();
      return data.includes(SECRET_CONTENT) ? undefined : data;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (["ENOENT", "ELOOP", "EACCES"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

function collect(walk: Walk, path: string, folder?: KnownFolder): void {
  // SECURITY: names that speak of secrets stay out whatever their mode (G-01)
  if (SECRET_NAME.test(path)) return;
  const { etc, found } = walk;
  const stats = lstatOrNothing(join(etc, path));
  if (!stats) return;
  const stamp = [stats.mode, stats.size, stats.ino, stats.mtimeNs, stats.ctimeNs].join(" ");
  if (stats.isSymbolicLink()) {
    const link: HostEntry = { path, kind: "link", stamp, target: readlinkSync(join(etc, path)) };
    found.set(path, link);
    folder?.links.set(path, link);
  } else if (stats.isDirectory()) {
    if ((stats.mode & WORLD_ENTER) !== WORLD_ENTER) return;
    found.set(path, { path, kind: "folder", stamp });
    const inside = openFolder(walk, path, stamp, stats);
    for (const name of inside.names) {
      const child = `${path}/${name}`;
      const link = inside.links.get(child);
      if (link) found.set(child, link);
      else collect(walk, child, inside);
    }
  } else if (stats.isFile() && stats.mode & WORLD_READ) {
    // SECURITY: only what every user of the host may read; sockets, pipes and devices never (G-01, G-02)
    found.set(path, { path, kind: "file", stamp });
  }
}

function openFolder({ etc, known }: Walk, path: string, stamp: string, stats: BigIntStats): KnownFolder {
  const before = known.get(path);
  if (before?.stamp === stamp) return before;
  const settled = Date.now() - Number(stats.ctimeMs) > SETTLED_MS;
  const folder: KnownFolder = { stamp, names: namesIn(join(etc, path)), links: new Map() };
  if (settled) known.set(path, folder);
  else known.delete(path);
  return folder;
}

/** False when the way to an entry is not open to everybody: then the entry is not either. */
function addParent({ etc, found }: Walk, path: string): boolean {
  const stats = lstatOrNothing(join(etc, path));
  if (!stats?.isDirectory() || (stats.mode & WORLD_ENTER) !== WORLD_ENTER) return false;
  found.set(path, { path, kind: "folder", stamp: "" });
  return true;
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...parentsOf(parent), parent];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (["ENOENT", "EACCES"].includes(errnoOf(error) ?? "")) return [];
    throw error;
  }
}

function lstatOrNothing(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
