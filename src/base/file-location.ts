import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Where something is, however it is reached: a file system, and the way from that file system's root. Links and bind mounts make no difference. */
export interface FileLocation {
  readonly device: string;
  readonly path: string;
}

interface Mount {
  readonly id: string;
  readonly device: string;
  /** What of the file system is mounted. */
  readonly root: string;
  readonly point: string;
}

/** The mounts of this process, as they were at one moment. */
export class MountTable {
  readonly #top: Mount | undefined;
  /** Paths that were resolved, at that moment too. */
  readonly #known = new Map<string, string>();
  /** By the mount that they are on, and where. */
  readonly #children = new Map<string, Mount>();

  constructor(text = readFileSync("/proc/self/mountinfo", "utf8")) {
    const parents = new Map<string, string>();
    const mounts = text.split("\n").flatMap((line) => {
      const [id, parent, device, root, place] = line.split(" ", 5);
      if (place === undefined || id === undefined || parent === undefined) return [];
      const point = unescape(place);
      const mount: Mount = { id, device: device ?? "", root: unescape(root ?? ""), point };
      parents.set(id, parent);
      this.#children.set(keyOf(parent, point), mount);
      return [mount];
    });
    const outermost = mounts.find(({ id, point }) => point === "/" && !parents.has(parents.get(id) ?? ""));
    this.#top = outermost && this.#uppermost(outermost, "/");
  }

  /** Of a path that need not be there: then where it would be made. */
  locate(path: string): FileLocation {
    const real = realPath(path, this.#known);
    let mount = this.#top;
    let at = "";
    for (const name of real.split("/").filter(Boolean)) {
      at += `/${name}`;
      if (mount) mount = this.#uppermost(mount, at);
    }
    if (!mount) return { device: "", path: real };
    const rest = mount.point === "/" ? real : real.slice(mount.point.length);
    return { device: mount.device, path: join(mount.root, rest) };
  }

  /** What is mounted at a place of a mount, over what was mounted there before; the mount itself when there is nothing. */
  #uppermost(mount: Mount, point: string): Mount {
    for (let found = mount; ;) {
      const over = this.#children.get(keyOf(found.id, point));
      if (!over || over.id === found.id) return found;
      found = over;
    }
  }
}

const keyOf = (parent: string, point: string): string => `${parent} ${point}`;

/** The kernel writes blanks and the like as three octal digits. */
const unescape = (field: string): string =>
  !field.includes("\\")
    ? field
    : field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));

/** The rest of the way from one place to another, "" when they are the same; undefined when the other is not below it. */
export function wayBelow(place: FileLocation, folder: FileLocation): string | undefined {
  if (place.device !== folder.device) return undefined;
  if (place.path === folder.path) return "";
  const prefix = folder.path === "/" ? "/" : `${folder.path}/`;
  return place.path.startsWith(prefix) ? place.path.slice(prefix.length) : undefined;
}

const MOST_LINKS = 40;

/**
 * Of as much as can be resolved: what is not there, or not for us to look at, has its name and no more; a link to it leads there all the same. Looks before it
 * asks: what is missing would be told by an exception each, which is slow, and most homes of a system's accounts are missing.
 */
function realPath(path: string, known: Map<string, string>, links = 0): string {
  const before = known.get(path);
  if (before !== undefined) return before;
  const found = (existsSync(path) ? resolved(path) : undefined) ?? realPathOfMissing(path, known, links);
  known.set(path, found);
  return found;
}

function realPathOfMissing(path: string, known: Map<string, string>, links: number): string {
  const parent = dirname(path);
  if (parent === path) return path;
  const at = join(realPath(parent, known, links), basename(path));
  const target = links < MOST_LINKS ? targetOf(at) : undefined;
  return target === undefined ? at : realPath(resolve(dirname(at), target), known, links + 1);
}

function resolved(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // gone meanwhile
  }
}

function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined; // not for us to look at
  }
}
