import { statSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { basename, isAbsolute, join, relative } from "node:path";
import { errnoOf } from "../base/errors.ts";

/** A folder as its file system knows it, however many ways lead to it. */
interface Source {
  /** Major and minor number. */
  readonly device: string;
  readonly path: string;
}

/**
 * Whether the mounts of any process that may be looked at show this folder, or have it as a layer. The names of built environments hold a digest, so what does
 * not name it needs no closer look.
 */
export async function isMountedAnywhere(folder: string): Promise<boolean> {
  const name = `/${basename(folder)}/`;
  const own = sourceOf(await realpath(folder), await readFile("/proc/self/mountinfo", "utf8"));
  const processes = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  for (const id of processes) {
    const mounts = await readFile(`/proc/${id}/mountinfo`, "utf8").catch((error: unknown) => {
      // Ended meanwhile, or another user's: that one cannot stand on an environment of ours.
      if (["ENOENT", "ESRCH", "EACCES", "EPERM", "EINVAL"].includes(errnoOf(error) ?? "")) return "";
      throw error;
    });
    const lines = mounts.includes(name) ? mounts.split("\n").filter((line) => line.includes(name)) : [];
    if (lines.some((line) => shows(line, name, own) || hasLayer(line, folder))) return true;
  }
  return false;
}

/** A build of the same environment in another cache has the same name, and is another folder. */
function shows(line: string, name: string, own: Source | undefined): boolean {
  const { device, root } = fieldsOf(line);
  return root.includes(name) && (!own || (device === own.device && isWithin(root, own.path)));
}

/** A layer is written as whoever mounted it saw it. One that is certainly another folder here does not count. */
function hasLayer(line: string, folder: string): boolean {
  const { rest } = fieldsOf(line);
  const ending = `/${basename(folder)}`;
  return [...rest.matchAll(/[^\s=:,]+/g)].some(([text]) => {
    const path = unescape(text);
    const end = `${path}/`.indexOf(`${ending}/`);
    return end >= 0 && !isAnother(path.slice(0, end + ending.length), folder);
  });
}

function isAnother(path: string, folder: string): boolean {
  const [one, other] = [path, folder].map((name) => statSync(name, { throwIfNoEntry: false }));
  return isAbsolute(path) && one !== undefined && (one.dev !== other?.dev || one.ino !== other.ino);
}

/** Undefined when no mount holds it, which a namespace that changes meanwhile may show. */
export function sourceOf(path: string, mountinfo: string): Source | undefined {
  const holding = mountinfo
    .split("\n")
    .filter((line) => line !== "")
    .map(fieldsOf)
    .filter(({ point }) => isWithin(path, point));
  // Of two at one place the later one is seen.
  const nearest = holding.reduce<(typeof holding)[number] | undefined>(
    (best, one) => (best && best.point.length > one.point.length ? best : one),
    undefined,
  );
  return nearest && { device: nearest.device, path: join(nearest.root, relative(nearest.point, path)) };
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** Of `ID PARENT DEVICE ROOT POINT …`; the rest tells of the point and of layers. */
function fieldsOf(line: string): { device: string; root: string; point: string; rest: string } {
  const [, , device = "", root = "", ...rest] = line.split(" ");
  return { device, root: unescape(root), point: unescape(rest[0] ?? ""), rest: rest.join(" ") };
}

/** The kernel writes spaces and the like as `\040`. */
const unescape = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
